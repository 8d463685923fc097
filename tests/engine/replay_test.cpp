// SPDX-License-Identifier: Apache-2.0
// A run whose length policy no run repeats comes out again from its trace, bit for bit: chains and
// trees, several sequences at once, over the files of a resumed run.
#include <catch2/catch.hpp>
#include <optional>

#include "engine/crowd.hpp"
#include "engine/records.hpp"
#include "trace/budgets.hpp"
#include "trace/check.hpp"
#include "trace/writer.hpp"

namespace {

using namespace redline;
using namespace tests;

const plugin::Registry& with_restless() {
  static const plugin::Registry known({REDLINE_ENGINE_PLUGINS "/engine_restless_length.so"}, {});
  return known;
}

Settings settings_of(const PluginChoice& drafter, const std::string& rule,
                     const PluginChoice& length) {
  Settings s;
  s.target = small_model();
  s.max_model_len = 128;
  s.rows_per_step = 64;
  s.cache_folder = tiny_folder() / "cache";
  s.threads = 1;
  s.draft = drafter;
  s.accept = choice(rule);
  s.sampler = {temperature("0.8")};
  s.length = length;
  s.max_num_seqs = 3;
  return s;
}

std::vector<Request> requests(int from, int to) {
  std::vector<Request> all;
  for (int k = from; k < to; ++k) {
    Request r;
    r.key = 100U + static_cast<std::uint64_t>(k);
    r.seed = 3;
    for (int i = 0; i < 12 + 3 * k; ++i) r.prompt.push_back(66 + (i * k) % 7);
    r.max_tokens = 24;
    r.ignore_eos = true;
    all.push_back(std::move(r));
  }
  return all;
}

// What can be told apart of a step.
using Told = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t, int, int, int,
                        std::vector<bool>>;
struct Run {
  std::map<std::uint64_t, std::vector<Token>> tokens;
  std::set<Told> steps;
  std::set<std::string> errors;
  bool operator==(const Run&) const = default;
  void merge(Run later) {
    tokens.merge(later.tokens);
    steps.merge(later.steps);
    errors.merge(later.errors);
  }
};

struct Both final : trace::Sink {  // into a file, and kept
  explicit Both(trace::Writer* to) : writer(to) {}
  trace::Level level() const override { return trace::Level::COUNTS; }
  std::int32_t topk() const override { return 0; }
  void step(trace::StepRecord r) override {
    std::vector<bool> answers;
    for (const auto& a : r.answers) answers.push_back(a.may_grow);
    steps.emplace(r.request_key, r.seq_step, r.budget_nodes, r.budget_depth, r.n_nodes, r.max_depth,
                  r.accepted_by_rule, answers);
    if (writer) writer->step(std::move(r));
  }
  void batch(trace::BatchRecord r) override {
    if (writer) writer->batch(r);
  }
  void request(trace::RequestRecord r) override {
    if (writer) writer->request(std::move(r));
  }
  void event(trace::EventRecord r) override {
    if (writer) writer->event(r);
  }
  void kv(trace::KvRecord r) override {
    if (writer) writer->kv(r);
  }
  trace::Writer* writer;
  std::set<Told> steps;
};

Run run(const Settings& settings, const std::vector<Request>& asked,
        const std::filesystem::path& file = {}) {
  Engine engine(settings, with_restless(), [](const std::string&) {});
  std::optional<trace::Writer> writer;
  if (!file.empty()) {
    trace::Header header;
    header.level = trace::Level::COUNTS;
    header.reproducible = engine.reproducible();
    writer.emplace(file, header);
  }
  Both sink(writer ? &*writer : nullptr);
  Run made;
  for (const Request& r : asked)
    engine.submit(r,
                  {.on_tokens = {}, .cancelled = {}, .on_end = [&made, key = r.key](Result result) {
                     made.tokens[key] = result.tokens;
                     if (!result.error.empty()) made.errors.insert(result.error);
                   }});
  while (engine.iterate(sink)) {
  }
  if (writer) writer->close();
  made.steps = std::move(sink.steps);
  return made;
}

std::filesystem::path fresh_folder(const std::string& name) {
  const auto folder = tiny_folder() / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

TEST_CASE("A run whose policy read the clock is repeated bit for bit from its trace") {
  const PluginChoice chain = choice("draft_model", {{"model", small_draft()}});
  const PluginChoice tree =
      choice("draft_tree", {{"model", small_draft()}, {"shape", "2;2,1"}, {"method", "iid"}});
  for (const auto& [drafter, rule] :
       {std::pair{chain, "accept_ratio"}, std::pair{tree, "accept_multiround"}}) {
    const auto folder = fresh_folder("replay-" + drafter.name);
    const auto restless = settings_of(drafter, rule, choice("restless_length"));
    Run first = run(restless, requests(0, 3), folder / "trace-000.h5");
    // The clock matters: the same run once more is another one.
    CHECK(run(restless, requests(0, 3)).steps != first.steps);
    first.merge(run(restless, requests(3, 6), folder / "trace-001.h5"));
    for (const char* name : {"trace-000.h5", "trace-001.h5"}) {
      const trace::Reader reader(folder / name);
      CHECK(trace::check(reader).violation_count == 0);
      CHECK(reader.attribute("/", "reproducible") == "no");
    }
    const auto replay =
        settings_of(drafter, rule, choice("length_replay", {{"trace", folder.string()}}));
    const Run again = run(replay, requests(0, 6), fresh_folder("again") / "trace-000.h5");
    CHECK(again.errors.empty());
    CHECK(again.tokens == first.tokens);
    CHECK(again.steps == first.steps);
    CHECK(trace::Reader(tiny_folder() / "again" / "trace-000.h5").attribute("/", "reproducible") ==
          "yes");
  }
}

TEST_CASE("A replay refuses a request and a step that its trace does not hold") {
  const auto folder = fresh_folder("refused");
  const PluginChoice chain = choice("draft_model", {{"model", small_draft()}});
  run(settings_of(chain, "accept_ratio", choice("restless_length")), requests(0, 2),
      folder / "trace-000.h5");
  const auto replay =
      settings_of(chain, "accept_ratio", choice("length_replay", {{"trace", folder.string()}}));
  const Run other = run(replay, requests(2, 3));
  REQUIRE(other.errors.size() == 1);
  CHECK_THAT(*other.errors.begin(), Catch::Matchers::Contains("holds no request 102"));
  auto longer = requests(0, 1);
  longer.front().max_tokens = 90;
  const Run beyond = run(replay, longer);
  REQUIRE(beyond.errors.size() == 1);
  CHECK_THAT(*beyond.errors.begin(), Catch::Matchers::Contains("its step"));
}

TEST_CASE("A replay without a trace, or with one that is not there, does not start") {
  const PluginChoice none = choice("draft_none");
  CHECK_THROWS_AS(run(settings_of(none, "accept_match", choice("length_replay")), {}), Error);
  CHECK_THROWS_AS(
      run(settings_of(none, "accept_match", choice("length_replay", {{"trace", "/none"}})), {}),
      Error);
}

}  // namespace
