// SPDX-License-Identifier: Apache-2.0
// Drafters with learned heads in the engine: plugins that know redline/plugin.hpp alone.
#include "engine/engine.hpp"

#include <catch2/catch.hpp>

#include "engine/tiny.hpp"
#include "model/architecture.hpp"
#include "modules/head_files.hpp"
#include "step/strategy.hpp"

using namespace redline;
using engine::Engine, engine::PluginChoice, engine::Request, engine::Result, engine::Settings;
using files::TensorType;

namespace {

const plugin::Registry& registry() {
  const std::filesystem::path folder(REDLINE_TOY_HEADS);
  static const plugin::Registry known({folder / "toy_medusa.so", folder / "toy_eagle.so",
                                       folder / "toy_flash.so", folder / "toy_nested.so"},
                                      {});
  return known;
}

// 8 heads, so that 8 ranks have one each.
std::string target() {
  const auto path = ::tests::tiny_folder() / "eight-heads.gguf";
  if (!std::filesystem::exists(path))
    model::write_tiny_model({.layers = 3,
                             .hidden = 256,
                             .heads = 8,
                             .kv_heads = 4,
                             .feed_forward = 256,
                             .type = TensorType::Q8_0},
                            path);
  return path.string();
}

std::string head_file(const std::string& name) {
  const auto path = ::tests::tiny_folder() / (name + ".gguf");
  const auto shape = model::shape_of(files::Gguf::open(target()));
  if (std::filesystem::exists(path)) return path.string();
  if (name == "medusa") redline::tests::medusa_file(shape.hidden, shape.vocab).write(path);
  if (name == "eagle") redline::tests::eagle_file(shape.hidden, shape.vocab).write(path);
  if (name == "flash") redline::tests::flash_file(shape.hidden).write(path);
  return path.string();
}

PluginChoice toy(const std::string& name, plugin::Arguments more = {}) {
  more.push_back({"weights", head_file(name), "test"});
  return {"toy_" + name, more};
}
PluginChoice medusa() { return toy("medusa", {{"breadth", "24", "test"}}); }
PluginChoice eagle_chain() { return toy("eagle"); }
PluginChoice eagle_tree() { return toy("eagle", {{"top", "6", "test"}}); }
PluginChoice flash() { return toy("flash", {{"mask", "258", "test"}}); }

Settings settings(PluginChoice draft, const std::string& rule, int tp = 1,
                  const std::string& temperature = "0") {
  Settings s;
  s.target = target();
  s.draft = std::move(draft);
  s.accept = {rule, {}};
  s.length = {"length_fixed", {{"max_nodes", "40", "test"}, {"max_depth", "4", "test"}}};
  s.sampler = {{"sample_temperature", {{"t", temperature, "test"}}}};
  s.threads = 1;
  s.tp = tp;
  s.max_model_len = 256;
  s.rows_per_step = 64;
  s.cache_folder = ::tests::tiny_folder();
  return s;
}

Request request(std::int32_t prompt_tokens = 33, std::int32_t max_tokens = 40) {
  Request r;
  r.key = engine::request_key("test", static_cast<std::uint64_t>(prompt_tokens), 0, 0);
  r.seed = 11;
  for (Token k = 0; k < prompt_tokens; ++k) r.prompt.push_back((k * k * 7 + 3) % 200);
  r.max_tokens = max_tokens;
  r.ignore_eos = true;
  return r;
}

// How many states of a row the memory plan has room for beside the target's KV.
std::int64_t taps_of(const Settings& s) {
  const auto plan = Engine(s, registry(), [](const std::string&) {}).memory();
  const auto shape = model::shape_of(files::Gguf::open(target()));
  const std::int64_t page_bytes = plan.items.at(1).bytes / plan.pages;
  return (page_bytes - shape.kv().page_bytes()) /
         (std::int64_t{4} * shape.hidden * kv::kPageTokens);
}

Result run(const Settings& s, const Request& r) {
  trace::NoTrace sink;
  return Engine(s, registry(), [](const std::string&) {}).run(r, sink);
}

}  // namespace

TEST_CASE("Greedy text with a learned head is plain decoding's at every degree") {
  const int tp = GENERATE(1, 2, 8);
  const auto plain = run(settings({"draft_none", {}}, "accept_match", tp), request());
  REQUIRE(plain.tokens.size() == 40);
  std::uint64_t accepted = 0;
  for (const PluginChoice& draft : {medusa(), eagle_chain(), eagle_tree(), flash()}) {
    CAPTURE(tp, draft.name);
    const auto drafted = run(settings(draft, "accept_match", tp), request());
    CHECK(drafted.tokens == plain.tokens);
    CHECK(drafted.logprobs == plain.logprobs);
    CHECK(drafted.counts.drafting_steps > 0);
    CHECK(drafted.error.empty());
    accepted += drafted.counts.accepted_by_rule;
  }
  CHECK(accepted > 0);
}

TEST_CASE("Sampled text with a learned head equals plain decoding of the same seed") {
  const auto plain = run(settings({"draft_none", {}}, "accept_match", 1, "0.9"), request());
  for (const PluginChoice& draft : {medusa(), eagle_chain(), eagle_tree(), flash()}) {
    CAPTURE(draft.name);
    CHECK(run(settings(draft, "accept_match", 1, "0.9"), request()).tokens == plain.tokens);
  }
}

TEST_CASE("A head's rows are laws that a ratio rule may rest on") {
  for (const PluginChoice& draft : {eagle_chain(), flash()}) {
    CAPTURE(draft.name);
    const auto result = run(settings(draft, "accept_ratio", 1, "1.5"), request(20, 120));
    CHECK(result.error.empty());
    CHECK(result.counts.accepted_by_rule > 0);
  }
}

TEST_CASE("Many sequences with learned heads, preempted or not, give what each gives alone") {
  const PluginChoice draft = GENERATE(medusa(), eagle_chain(), eagle_tree(), flash());
  const Settings alone = settings(draft, "accept_match", 1, "0.8");
  constexpr std::int32_t kPrompts[] = {5, 33, 70, 90, 41}, kTokens = 30;
  std::map<std::int32_t, Result> expected;
  for (const std::int32_t prompt : kPrompts)
    expected[prompt] = run(alone, request(prompt, kTokens));
  for (const bool keeps_prefixes : {false, true}) {
    Settings crowded = alone;
    crowded.max_num_seqs = 5;
    crowded.kv_pages = 21;
    crowded.prefix_cache = keeps_prefixes;
    Engine engine(crowded, registry(), [](const std::string&) {});
    std::map<std::int32_t, Result> results;
    for (const std::int32_t prompt : kPrompts)
      engine.submit(request(prompt, kTokens),
                    {{}, {}, [&results, prompt](Result r) { results[prompt] = std::move(r); }});
    trace::NoTrace sink;
    while (engine.iterate(sink)) {
    }
    std::int32_t preemptions = 0;
    for (const std::int32_t prompt : kPrompts) {
      CAPTURE(draft.name, prompt, keeps_prefixes);
      CHECK(results[prompt].tokens == expected[prompt].tokens);
      CHECK(results[prompt].counts == expected[prompt].counts);
      CHECK(results[prompt].drafted_per_step == expected[prompt].drafted_per_step);
      preemptions += results[prompt].preemptions;
    }
    CHECK(preemptions > 0);
    CHECK(engine.held_pages() == 0);
  }
}

TEST_CASE("What a head cannot have is refused at the start") {
  SECTION("a weights file that is not there") {
    const PluginChoice draft{"toy_eagle", {{"weights", "none.gguf", "test"}}};
    CHECK_THROWS_WITH(run(settings(draft, "accept_match"), request()),
                      Catch::Contains("none.gguf"));
  }
  SECTION("weights of another head") {
    const PluginChoice draft{"toy_eagle", {{"weights", head_file("medusa"), "test"}}};
    CHECK_THROWS_WITH(run(settings(draft, "accept_match"), request()),
                      Catch::Contains("module op 4, linear(fc): the file has no tensor fc.weight"));
  }
  SECTION("a layer that the target lacks") {
    Settings s = settings(eagle_chain(), "accept_match");
    s.target = ::tests::small_model();  // of two layers
    CHECK_THROWS_WITH(run(s, request()),
                      Catch::Contains("toy_eagle taps the input of layer 2, the target has 2"));
  }
  SECTION("a head that was not opened at the start") {
    Settings s = settings({"draft_none", {}}, "accept_match");
    Engine engine(s, registry(), [](const std::string&) {});
    Request r = request();
    r.decoding.draft = medusa();
    CHECK_THROWS_WITH(engine.submit(r, {}), Catch::Contains("was not opened at the start"));
  }
}

TEST_CASE("Each head gets the taps of the drafter that opened it, and the target keeps all once") {
  const PluginChoice nested{
      "toy_nested",
      {{"weights", head_file("medusa"), "test"}, {"inner", head_file("eagle"), "test"}}};
  const Settings s = settings(nested, "accept_match");
  CHECK(taps_of(s) == 4);
  CHECK(run(s, request()).counts == run(settings(eagle_chain(), "accept_match"), request()).counts);
  Settings several = settings(eagle_chain(), "accept_match");
  several.drafters = {eagle_tree(), flash(), medusa()};
  CHECK(taps_of(several) == 4);  // what flash taps eagle does, the one under another name
}

TEST_CASE("A node is recorded with the row of the head it was taken from") {
  class Steps final : public trace::Sink {
   public:
    trace::Level level() const override { return trace::Level::FULL; }
    std::int32_t topk() const override { return 4; }
    void step(trace::StepRecord record) override { steps.push_back(std::move(record)); }
    void batch(trace::BatchRecord) override {}
    void request(trace::RequestRecord) override {}
    void event(trace::EventRecord) override {}
    std::vector<trace::StepRecord> steps;
  } sink;
  const PluginChoice draft = GENERATE(medusa(), eagle_chain(), eagle_tree(), flash());
  Settings s = settings(draft, "accept_match");
  s.trace_level = sink.level();
  Engine(s, registry(), [](const std::string&) {}).run(request(), sink);
  std::size_t nodes = 0;
  for (const trace::StepRecord& step : sink.steps)
    for (const trace::NodeRecord& node : step.nodes) {
      CAPTURE(draft.name, node.depth, node.draft_rank);
      CHECK(std::isfinite(node.q_raw_logprob));
      if (draft.name == "toy_medusa") CHECK(node.draft_rank < 24 >> (node.depth - 1));
      if (draft.name == "toy_eagle" && draft.arguments.size() > 1) CHECK(node.draft_rank < 6);
      ++nodes;
    }
  CHECK(nodes > 100);
}

TEST_CASE("A rule gets no hidden states") {
  class Tapping final : public AcceptanceRule {
    RuleContract do_contract() const override {
      return {.claim = Claim::APPROXIMATE, .reads = {}, .needs = {.taps = {Tap{}}}};
    }
    Verdict do_judge(const Draft&, std::span<const Row>, Draws&) const override { return {}; }
  } rule;
  class None final : public Drafter {
    DrafterContract do_contract() const override { return {.emits = {}}; }
    void do_propose(std::span<Proposal>) override {}
  } drafter;
  CHECK_THROWS_WITH(step::match(drafter, rule), Catch::Contains("only a drafter's module gets"));
}

TEST_CASE("Tapped states and heads are planned and shown") {
  CHECK(taps_of(settings({"draft_none", {}}, "accept_match")) == 0);
  const Settings s = settings(eagle_chain(), "accept_match");
  CHECK(taps_of(s) == 3);
  const Engine engine(s, registry(), [](const std::string&) {});
  CHECK_THAT(engine.memory().table(), Catch::Contains("module weights"));
}
