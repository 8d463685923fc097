// SPDX-License-Identifier: Apache-2.0
// Where a request ends is exact, whatever was drafted beyond it.
#include <catch2/catch.hpp>

#include "engine/crowd.hpp"
#include "engine/records.hpp"

namespace {

using namespace redline;
using namespace tests;
using trace::FinishReason;

PluginChoice length(int depth) {
  return choice("length_fixed", {{"max_depth", std::to_string(depth)}});
}

Settings greedy(const PluginChoice& draft, int depth = 4) {
  Settings s = crowd_settings();
  s.draft = draft;
  s.length = length(depth);
  s.sampler = {temperature("0")};
  return s;
}
PluginChoice target_as_draft() { return choice("draft_model", {{"model", small_model()}}); }
PluginChoice scripted(const std::vector<Token>& ids) {
  std::string text;
  for (const Token id : ids) text.append(std::to_string(id)).append(",");
  return choice("draft_scripted", {{"ids", text}});
}

Request request(int prompt_tokens, int max_tokens) {
  Request r;
  r.key = 9;
  r.seed = 4;
  for (int i = 0; i < prompt_tokens; ++i) r.prompt.push_back(60 + (i * i) % 31);
  r.max_tokens = max_tokens;
  r.ignore_eos = true;
  return r;
}

Result run(const Settings& s, const Request& r) {
  Records sink;
  Engine engine(s, registry(), quiet);
  Result result = engine.run(r, sink);
  CHECK(engine.held_pages() == 0);
  CHECK(sink.count(trace::Event::DRAFT_REFUSED) == 0);
  return result;
}
Result plain(const Request& r) { return run(greedy(choice("draft_none")), r); }

void check_text(const Result& a, const Result& b) {
  CHECK(a.tokens == b.tokens);
  CHECK(a.logprobs == b.logprobs);
  CHECK(a.text == b.text);
  CHECK(a.finish == b.finish);
}

TEST_CASE("max_tokens is exact in as few steps as the draft allows, for 1 to 9 tokens and K to 8") {
  const std::vector<Token> whole = plain(request(20, 9)).tokens;
  for (int k = 1; k <= 8; ++k) {
    Engine engine(greedy(target_as_draft(), k), registry(), quiet);
    trace::NoTrace sink;
    for (int limit = 1; limit <= 9; ++limit) {
      INFO(limit << " tokens, K = " << k);
      const Result r = engine.run(request(20, limit), sink);
      CHECK(r.tokens == std::vector(whole.begin(), whole.begin() + limit));
      CHECK(r.finish == FinishReason::LENGTH);
      CHECK(r.counts.emitted == static_cast<std::uint64_t>(limit));
      CHECK(r.counts.committed == r.counts.emitted);  // nothing is drafted that may not stay
      CHECK(r.counts.steps == static_cast<std::uint64_t>((limit - 1 + k) / (k + 1)));
    }
  }
}

TEST_CASE("A draft model of half the context drafts to its last position, the target to its own") {
  const std::string half = small_model(files::TensorType::Q8_0, 64);
  for (const int prompt_tokens : {1, 40, 58, 62, 63, 64, 65, 100, 126, 127}) {
    INFO(prompt_tokens << " prompt tokens");
    const Request r = request(prompt_tokens, 500);
    const Result expected = plain(r);
    CHECK(expected.tokens.size() == 128U - prompt_tokens);
    CHECK(expected.finish == FinishReason::CONTEXT);
    for (const int k : {1, 4, 8}) {
      Settings s = greedy(choice("draft_model", {{"model", half}}), k);
      s.drafters.clear();
      const Result drafted = run(s, r);
      check_text(drafted, expected);
      CHECK((drafted.counts.drafted > 0) == (prompt_tokens < 63));
    }
  }
}

TEST_CASE("An end of generation inside a draft ends the text there, whatever was accepted behind") {
  Request r = request(20, 24);
  const std::vector<Token> ids = plain(r).tokens;
  for (const std::size_t at : {0, 1, 4, 9, 15}) {
    r.stop_tokens = {ids[at]};
    const Result expected = plain(r);
    CHECK(expected.finish == FinishReason::STOP);
    CHECK(expected.tokens.back() == ids[at]);
    for (int k = 1; k <= 8; ++k) {
      INFO("stop " << at << ", K = " << k);
      for (const PluginChoice& draft : {scripted(ids), target_as_draft()}) {
        const Result drafted = run(greedy(draft, k), r);
        check_text(drafted, expected);
        CHECK(drafted.counts.emitted == drafted.tokens.size());
        CHECK(drafted.counts.emitted <= drafted.counts.committed);
      }
    }
  }
}

TEST_CASE("A stop string is met where it ends, across any border of steps") {
  Request r = request(20, 24);
  const std::string text = plain(r).text;
  REQUIRE(text.size() > 12);
  for (std::size_t at = 0; at + 3 < text.size(); at += 2) {
    if (text.substr(at, 3).find("\xEF\xBF\xBD") != std::string::npos) continue;
    r.stop_strings = {text.substr(at, 3)};
    const Result expected = plain(r);
    for (const int k : {1, 2, 3, 5}) {
      INFO("stop at byte " << at << ", K = " << k);
      check_text(run(greedy(target_as_draft(), k), r), expected);
    }
  }
}

TEST_CASE("Below min_tokens no stop token is emitted, drafted as it may be") {
  Request r = request(20, 24);
  const std::vector<Token> ids = plain(r).tokens;
  r.stop_tokens = {ids[2]};
  r.min_tokens = 6;
  const Result expected = plain(r);
  CHECK(std::find(expected.tokens.begin(), expected.tokens.begin() + 6, ids[2]) ==
        expected.tokens.begin() + 6);
  for (const int k : {1, 4, 8}) {
    check_text(run(greedy(scripted(ids), k), r), expected);
    check_text(run(greedy(target_as_draft(), k), r), expected);
  }
}

// Cancels request 2 of 3 after n iterations: it may wait, prefill in chunks, or decode.
TEST_CASE("A request cancelled at any step gives all pages back and changes no other") {
  Settings s = greedy(target_as_draft());
  s.rows_per_step = 16;
  s.max_num_seqs = 2;
  std::vector<Request> requests;
  for (int k = 0; k < 3; ++k) {
    requests.push_back(request(90 - 20 * k, 12));
    requests.back().key = 100U + static_cast<std::uint64_t>(k);
  }
  const Results alone = run_alone(s, requests);
  std::size_t waited = 0, prefilled = 0;
  bool ended_first = false;
  for (int n = 0; !ended_first; ++n) {
    INFO("after " << n << " iterations");
    Engine engine(s, registry(), quiet);
    trace::NoTrace sink;
    Results results;
    for (const Request& r : requests) REQUIRE(submit(engine, r, results));
    for (int k = 0; k < n; ++k) engine.iterate(sink);
    ended_first = results.contains(102);
    for (const std::uint64_t key : {102U, 101U, 100U}) {
      const bool had_ended = results.contains(key);
      CHECK(engine.cancel(key) != had_ended);
      engine.iterate(sink);
      REQUIRE(results.contains(key));
      if (had_ended) {
        check_same(results.at(key), alone.at(key));
        continue;
      }
      const Result& cut = results.at(key);
      CHECK(cut.finish == FinishReason::CANCELLED);
      const auto& whole = alone.at(key).tokens;
      REQUIRE(cut.tokens.size() <= whole.size());
      CHECK(std::equal(cut.tokens.begin(), cut.tokens.end(), whole.begin()));
      waited += key == 102;
      prefilled += cut.tokens.empty();
    }
    CHECK(engine.held_pages() == 0);
  }
  CHECK(waited > 0);
  CHECK(prefilled > 5);
}

}  // namespace
