// SPDX-License-Identifier: Apache-2.0
// Rules that keep out faults other systems shipped: docs/field_cases.md says which.
#include <catch2/catch.hpp>

#include "engine/crowd.hpp"
#include "engine/records.hpp"

namespace {

using namespace redline;
using namespace tests;

Request request(std::uint64_t key, int prompt_tokens = 40, int max_tokens = 20) {
  Request r;
  r.key = key;
  r.seed = 6;
  for (int i = 0; i < prompt_tokens; ++i) r.prompt.push_back(60 + (i * i) % 29);
  r.max_tokens = max_tokens;
  r.ignore_eos = true;
  return r;
}

PluginChoice target_as_draft() { return choice("draft_model", {{"model", small_model()}}); }
// What the target does not say.
constexpr const char* kWrong =
    "299,299,299,299,299,299,299,299,299,299,299,299,299,299,299,299,299,299,299,299,299";
PluginChoice scripted(const std::string& ids) { return choice("draft_scripted", {{"ids", ids}}); }

Settings settings(const PluginChoice& draft, const std::string& t = "0.8") {
  Settings s = crowd_settings();
  s.draft = draft;
  s.sampler = {temperature(t)};
  return s;
}

Results run(const Settings& s, const std::vector<Request>& requests, Records& records) {
  Engine engine(s, registry(), quiet);
  Results results;
  for (const Request& r : requests) REQUIRE(submit(engine, r, results));
  while (engine.iterate(records)) {
  }
  CHECK(engine.held_pages() == 0);
  return results;
}
Results run(const Settings& s, const std::vector<Request>& requests) {
  Records records;
  return run(s, requests, records);
}
Result run(const Settings& s, const Request& r) { return run(s, std::vector{r}).at(r.key); }

TEST_CASE("Two equal prompts admitted at once with a prefix cache give what each gives alone") {
  Settings s = settings(target_as_draft());
  const Results alone = run_alone(s, {request(1), request(2)});
  s.max_num_seqs = 2;
  s.prefix_cache = true;
  for (const auto& [key, result] : run(s, {request(1), request(2)}))
    check_same(result, alone.at(key));
}

TEST_CASE("A prefix left by a request whose drafts were all rejected serves like a cold cache") {
  Settings s = settings(scripted(kWrong), "0");
  s.prefix_cache = true;
  Engine engine(s, registry(), quiet);
  trace::NoTrace sink;
  const Result first = engine.run(request(1), sink);
  CHECK(first.counts.drafted > 0);
  CHECK(first.counts.accepted_by_rule == 0);
  Request longer = request(2);
  longer.prompt.insert(longer.prompt.end(), first.tokens.begin(), first.tokens.end() - 1);
  const Result warm = engine.run(longer, sink);
  CHECK(warm.cached_tokens == 48);  // of 59: also pages that hold what was decoded
  check_same(warm, run(settings(s.draft, "0"), longer));
}

TEST_CASE("What a stop has cut off is not left to later requests") {
  const Result plain = run(settings(choice("draft_none"), "0"), request(1));
  Settings s = settings(target_as_draft(), "0");
  s.length = choice("length_fixed", {{"max_depth", "8"}});
  s.prefix_cache = true;
  int would_be_left = 0;
  for (std::size_t at = 1; at < plain.text.size(); ++at) {
    Engine engine(s, registry(), quiet);
    trace::NoTrace sink;
    Request stopped = request(1), longer = request(2);
    stopped.stop_strings = {plain.text.substr(at, 2)};
    const Result first = engine.run(stopped, sink);
    longer.prompt.insert(longer.prompt.end(), plain.tokens.begin(), plain.tokens.end());
    const auto pages = (40 + first.counts.emitted) / 16;
    CHECK(engine.run(longer, sink).cached_tokens <= static_cast<std::int32_t>(pages) * 16);
    would_be_left += (40 + first.counts.committed - 1) / 16 > pages;
  }
  CHECK(would_be_left > 0);
}

TEST_CASE("cached_tokens of a prompt seen before are its whole pages before the last token") {
  Settings s = settings(choice("draft_none"));
  s.prefix_cache = true;
  for (const int size : {15, 16, 17, 32, 33, 48, 49}) {
    Engine engine(s, registry(), quiet);
    trace::NoTrace sink;
    CHECK(engine.run(request(1, size, 1), sink).cached_tokens == 0);
    CHECK(engine.run(request(2, size, 1), sink).cached_tokens == (size - 1) / 16 * 16);
  }
}

TEST_CASE("The acceptance of a fixed pair and seed is the stored one") {
  const Result r = run(settings(target_as_draft()), request(1, 40, 80));
  CHECK(r.counts.drafted == 160);
  CHECK(r.counts.accepted_by_rule == 37);
}

TEST_CASE("A token that a bias forbids is never emitted, drafted as it may be") {
  for (const char* t : {"0", "1"}) {
    Settings s = settings(scripted("7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7,7"), t);
    s.sampler.push_back(choice("sample_bias", {{"add", "7:-100"}}));
    const Result r = run(s, request(1));
    CHECK(r.counts.drafted > 0);
    CHECK(std::ranges::count(r.tokens, 7) == 0);
    s.draft = choice("draft_none");
    CHECK(run(s, request(1)).tokens == r.tokens);
  }
}

TEST_CASE("The first drafted token is verified like the others") {
  const Result plain = run(settings(choice("draft_none"), "0"), request(1));
  const Result r = run(settings(scripted("9,9,9,9,9,9,9,9,9,9,9,9"), "0"), request(1));
  CHECK(r.tokens == plain.tokens);
}

TEST_CASE("Another request's seed, temperature or strategy changes nothing of mine") {
  Settings s = settings(target_as_draft());
  const Result alone = run(s, request(1));
  s.max_num_seqs = 2;
  for (const char* t : {"0", "0.3", "1"})
    for (const std::uint64_t seed : {6, 7}) {
      Request other = request(2);
      other.seed = seed;
      other.decoding.sampler = {temperature(t)};
      other.decoding.draft = choice("draft_ngram");
      check_same(run(s, {other, request(1)}).at(1), alone);
    }
}

TEST_CASE("One seed gives one text under a rule that shares the noise, whatever K") {
  const Result plain = run(settings(choice("draft_none")), request(1));
  for (int k = 0; k <= 8; ++k) {
    Settings s = settings(target_as_draft());
    s.length = choice("length_fixed", {{"max_depth", std::to_string(k)}});
    const Result r = run(s, request(1));
    CHECK(r.tokens == plain.tokens);
    CHECK(r.logprobs == plain.logprobs);
  }
}

TEST_CASE("In a mixed batch a request that is off drafts nothing, the others do") {
  Settings s = settings(target_as_draft());
  s.max_num_seqs = 3;
  Request off = request(1), ngram = request(3);
  off.decoding.draft = choice("draft_none");
  ngram.decoding.draft = choice("draft_ngram");
  const Results results = run(s, {off, request(2), ngram});
  CHECK(results.at(1).counts.drafted == 0);
  CHECK(results.at(2).counts.drafted > 0);
  CHECK(results.at(3).counts.drafted > 0);
}

TEST_CASE("A, B, A through one engine: the third has the steps of the first, for every drafter") {
  for (const PluginChoice& draft : drafters("70,71,72,73,74,75,76,77,78,79")) {
    INFO(draft.name);
    Settings s = settings(draft);
    s.accept = choice("accept_delta");
    Engine engine(s, registry(), quiet);
    trace::NoTrace sink;
    const Result first = engine.run(request(1), sink);
    engine.run(request(2, 71), sink);
    check_same(engine.run(request(1), sink), first);
  }
}

TEST_CASE("Trees at temperature 0 end after 1 to 5 tokens as plain decoding does") {
  const Result plain = run(settings(choice("draft_none"), "0"), request(1));
  for (const char* shape : {"3", "1;1;1", "3;2,1"})
    for (int limit = 1; limit <= 5; ++limit) {
      Settings s = settings(
          choice("draft_tree", {{"model", small_model()}, {"shape", shape}, {"method", "top"}}),
          "0");
      s.length = choice("length_fixed", {{"max_depth", "3"}, {"max_nodes", "8"}});
      const Result r = run(s, request(1, 40, limit));
      CHECK(std::equal(r.tokens.begin(), r.tokens.end(), plain.tokens.begin()));
      CHECK(r.tokens.size() == static_cast<std::size_t>(limit));
    }
}

TEST_CASE("The steps of a trace add up to the tokens of its requests, their times to no more") {
  Settings s = settings(target_as_draft());
  s.max_num_seqs = 4;
  Records records;
  const Results results = run(s, {request(1), request(2, 9), request(3, 70)}, records);
  std::map<std::uint64_t, std::size_t> emitted;
  for (const auto& step : records.steps) emitted[step.request_key] += step.emitted;
  for (const auto& [key, result] : results) CHECK(emitted[key] == result.tokens.size());
  for (const auto& b : records.batches)
    CHECK(b.draft_ns + b.target_ns + b.verify_ns + b.sample_ns + b.kv_ns <= b.total_ns);
}

}  // namespace
