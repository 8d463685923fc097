// SPDX-License-Identifier: Apache-2.0
// A plugin or a model that goes wrong on one request: named, counted, contained. Those beside it
// get what they get without it, bit for bit, and no page stays behind.
#include <catch2/catch.hpp>
#include <fstream>

#include "engine/crowd.hpp"
#include "engine/records.hpp"

namespace {

using namespace redline;
using namespace tests;
using trace::Event, trace::FinishReason;

constexpr Token kMark = 77;                       // as in plugins/marked.hpp
constexpr std::uint64_t kMarkedKeys = 1'000'000;  // likewise

const plugin::Registry& with_faulty_plugins() {
  static const plugin::Registry known({REDLINE_ENGINE_PLUGINS "/engine_faulty_drafter.so",
                                       REDLINE_ENGINE_PLUGINS "/engine_faulty_others.so"},
                                      {});
  return known;
}

enum class Part { DRAFTER, LENGTH, RULE, LINK };

Settings settings_with(Part part, const std::string& how) {
  Settings s = crowd_settings();
  s.draft = choice("draft_model", {{"model", small_draft()}});
  s.sampler = {temperature("0.8")};
  s.max_num_seqs = 8;
  if (part == Part::DRAFTER)
    s.draft = choice("faulty_drafter", {{"model", small_draft()}, {"how", how}});
  if (part == Part::LENGTH) s.length = choice("faulty_length", {{"how", how}});
  if (part == Part::RULE) s.accept = choice("faulty_rule", {{"how", how}});
  if (part == Part::LINK) s.sampler.push_back(choice("faulty_link", {{"how", how}}));
  return s;
}

std::vector<Request> requests(Token mark) {
  std::vector<Request> all;
  for (int k = 0; k < 6; ++k) {
    const bool is_marked = k % 3 == 1;
    Request r;
    r.key = is_marked ? kMarkedKeys + static_cast<std::uint64_t>(k) : 100U + k;
    r.seed = 3;
    r.prompt = {is_marked ? mark : 65};
    for (int i = 0; i < 20 + 5 * k; ++i) r.prompt.push_back(66 + (i * k) % 7);
    r.max_tokens = 14;
    r.ignore_eos = true;
    all.push_back(std::move(r));
  }
  return all;
}

struct Run {
  Results results;
  Records records;
};

Run run(const Settings& settings, Token mark = kMark) {
  Run out;
  Engine engine(settings, with_faulty_plugins(), quiet);
  for (const Request& r : requests(mark)) REQUIRE(submit(engine, r, out.results));
  while (engine.iterate(out.records)) {
  }
  CHECK(engine.held_pages() == 0);
  return out;
}

bool is_marked(std::uint64_t key) { return key >= kMarkedKeys; }

void check_others(const Results& results, const Results& sound) {
  for (const auto& [key, result] : sound)
    if (!is_marked(key)) check_same(results.at(key), result);
}

// The marked requests end, naming the plugin, its call and what was wrong with it.
void check_ends(Part part, const std::string& how, const std::string& names) {
  INFO(how);
  const Run sound = run(settings_with(part, "none")), faulty = run(settings_with(part, how));
  check_others(faulty.results, sound.results);
  for (const auto& [key, result] : faulty.results) {
    if (!is_marked(key)) continue;
    CHECK(result.finish == FinishReason::ERROR);
    CHECK_THAT(result.error, Catch::Contains(names));
    const auto& whole = sound.results.at(key).tokens;
    REQUIRE(result.tokens.size() < whole.size());
    CHECK(std::equal(result.tokens.begin(), result.tokens.end(), whole.begin()));
  }
  CHECK(faulty.records.count(Event::PLUGIN_FAILED) == 2);
}

// The marked requests go on in plain steps: under a rule that shares the noise the text is the
// same.
void check_goes_on(Part part, const std::string& how, bool is_counted = true) {
  INFO(how);
  const Run sound = run(settings_with(part, "none")), faulty = run(settings_with(part, how));
  check_others(faulty.results, sound.results);
  for (const auto& [key, result] : faulty.results) {
    CHECK(result.error.empty());
    CHECK(result.tokens == sound.results.at(key).tokens);
    CHECK(result.logprobs == sound.results.at(key).logprobs);
  }
  CHECK((faulty.records.count(Event::DRAFT_REFUSED) >= 2) == is_counted);
  CHECK(faulty.records.count(Event::PLUGIN_FAILED) == 0);
}

TEST_CASE("A drafter's bad draft is a plain step of its own request, counted") {
  for (const char* how : {"propose throws", "propose throws int", "no limit", "cycle",
                          "wrong parent", "negative parent", "negative token", "token V", "twin",
                          "no row", "row of NaN", "row of infinity", "row of 2", "row of another V",
                          "asked node", "asked shorter text", "asked stranger"})
    check_goes_on(Part::DRAFTER, how);
}

TEST_CASE("A drafter that throws where nothing is drafted ends its own request") {
  check_ends(Part::DRAFTER, "begin throws", "faulty_drafter.begin, sequence 100000");
  check_ends(Part::DRAFTER, "begin throws int", "faulty_drafter.begin");
  check_ends(Part::DRAFTER, "observe throws", "faulty_drafter.observe, sequence 100000");
}

TEST_CASE("A policy that throws or asks for the impossible costs its own request the draft") {
  for (const char* how :
       {"choose throws", "choose throws int", "negative budget", "proceed throws"})
    check_goes_on(Part::LENGTH, how);
  check_goes_on(Part::LENGTH, "huge budget", false);  // cut to what is left, as any budget
  check_ends(Part::LENGTH, "begin throws", "faulty_length.begin");
  check_ends(Part::LENGTH, "observe throws", "faulty_length.observe");
}

TEST_CASE("A rule's garbage ends its own request, named") {
  check_ends(Part::RULE, "judge throws", "faulty_rule.judge, sequence 100000");
  check_ends(Part::RULE, "judge throws int", "faulty_rule.judge");
  check_ends(Part::RULE, "keeps node 99", "keeps node 99");
  check_ends(Part::RULE, "keeps node -5", "keeps node -5");
  check_ends(Part::RULE, "next is -1", "next token -1");
  check_ends(Part::RULE, "next is V", "is not below V");
  check_ends(Part::RULE, "chance of 2", "probability 2");
  check_ends(Part::RULE, "draws at node 99", "faulty_rule.judge");
  check_ends(Part::RULE, "draws at node -5", "faulty_rule.judge");
  check_ends(Part::RULE, "asks for token V", "faulty_rule.judge");
  check_ends(Part::RULE, "forecast throws", "faulty_rule.expected_accepted");
}

TEST_CASE("A sampler that throws or writes no logits ends its own request, named") {
  for (const char* how :
       {"apply throws", "apply throws int", "sets NaN", "sets infinity", "sets token V",
        "sets token -1", "writes NaN", "writes infinity", "scales by 0"})
    check_ends(Part::LINK, how, "faulty_link.apply");
  check_ends(Part::LINK, "begin throws", "faulty_link.begin");
  check_ends(Part::LINK, "no memory", "faulty_link.begin");
  check_ends(Part::LINK, "advance throws", "faulty_link.advance");
  check_ends(Part::LINK, "clone throws", "faulty_link.clone");
  check_ends(Part::LINK, "clone is null", "faulty_link.clone");
}

// A model in which one token's embedding is not a number.
std::string broken_model(files::TensorType type, Token token) {
  const auto path = tiny_folder() / ("broken-" + std::to_string(static_cast<int>(type)) + ".gguf");
  model::TinySpec spec{.hidden = 64, .heads = 2, .kv_heads = 1, .feed_forward = 128};
  spec.type = type;
  files::GgufWriter writer = model::tiny_model(spec);
  writer.set("general.description", std::string("broken"));  // another header, another cached copy
  writer.write(path);
  const auto file = files::Gguf::open(path);
  const files::Tensor& rows = file.tensor("token_embd.weight");
  const auto row_bytes = static_cast<std::int64_t>(rows.bytes.size()) / rows.rows();
  std::fstream patch(path, std::ios::in | std::ios::out | std::ios::binary);
  patch.seekp(rows.bytes.data() - file.header().data() + token * row_bytes);
  patch.write("\x00\x7e", 2);  // the scale of the row's first block: NaN in F16
  return path.string();
}

TEST_CASE("A row of NaN from the target is that request's error, whoever shares the forward") {
  Settings s = settings_with(Part::LINK, "none");
  s.sampler = {temperature("0.8"), choice("sample_bias", {{"ban", std::to_string(kMark)}})};
  const Run sound = run(s);
  s.target = broken_model(files::TensorType::Q8_0, kMark);
  const Run broken = run(s);
  check_others(broken.results, sound.results);
  for (const auto& [key, result] : broken.results)
    if (is_marked(key)) {
      CHECK(result.finish == FinishReason::ERROR);
      CHECK_THAT(result.error, Catch::Contains("NaN"));
      CHECK(result.tokens.empty());
    }
  CHECK(broken.records.count(Event::BAD_ROW) == 2);
}

TEST_CASE("A row of NaN from a draft model is a plain step of that request, counted") {
  Settings s = settings_with(Part::LINK, "none");
  s.sampler = {temperature("0.8"), choice("sample_bias", {{"ban", std::to_string(kMark)}})};
  const Run sound = run(s);
  s.draft = choice("draft_model", {{"model", broken_model(files::TensorType::Q4_0, kMark)}});
  s.drafters.clear();
  const Run broken = run(s);
  check_others(broken.results, sound.results);
  for (const auto& [key, result] : broken.results) {
    CHECK(result.error.empty());
    CHECK(result.tokens == sound.results.at(key).tokens);
    if (is_marked(key)) CHECK(result.counts.drafted == 0);
  }
  CHECK(broken.records.count(Event::DRAFT_REFUSED) > 2);
}

TEST_CASE("A policy is asked once a step, however long its sequence waits for rows") {
  Settings s = crowd_settings();
  s.draft = choice("draft_model", {{"model", small_draft()}});
  s.accept = choice("accept_ratio");
  s.length = choice("counting_length");
  s.sampler = {temperature("0.8")};
  const Run alone = run(s);
  s.max_num_seqs = 6;
  s.rows_per_step = 8;  // one sequence, or two with short drafts
  for (const auto& [key, result] : run(s).results) check_same(result, alone.results.at(key));
}

TEST_CASE("A plugin's call that takes long is counted, and the request goes on") {
  Settings s = settings_with(Part::DRAFTER, "nap");
  s.plugin_calls = {.slow_s = 0.01, .limit_s = 60};
  const Run slow = run(s), sound = run(settings_with(Part::DRAFTER, "none"));
  CHECK(slow.records.count(Event::PLUGIN_SLOW) > 0);
  for (const auto& [key, result] : sound.results) check_same(slow.results.at(key), result);
}

}  // namespace
