// SPDX-License-Identifier: Apache-2.0
// Under pressure nothing is lost and nothing stays behind.
#include <catch2/catch.hpp>

#include "engine/crowd.hpp"
#include "engine/records.hpp"

namespace {

using namespace redline;
using namespace tests;

// Of allocators; a leak of these runs is more. Sanitizers hold back what was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::int64_t kSlackBytes = 512 << 20;
#else
constexpr std::int64_t kSlackBytes = 16 << 20;
#endif

Settings settings() {
  Settings s = crowd_settings();
  s.draft = choice("draft_model", {{"model", small_draft()}});
  s.accept = choice("accept_ratio");
  s.sampler = {temperature("0.8")};
  return s;
}

Request request(std::uint64_t key, int prompt_tokens, int max_tokens) {
  Request r;
  r.key = key;
  r.seed = 2;
  for (int i = 0; i < prompt_tokens; ++i)
    r.prompt.push_back(60 + static_cast<Token>((key * 7 + static_cast<std::uint64_t>(i * i)) % 50));
  r.max_tokens = max_tokens;
  r.ignore_eos = true;
  return r;
}

TEST_CASE("Of 200 requests in a pool so small that half are preempted, none is lost or changed") {
  std::vector<Request> requests;
  for (std::uint64_t k = 0; k < 200; ++k)
    requests.push_back(request(k, 1 + static_cast<int>(k % 20), 40 + static_cast<int>(k % 31)));
  const Results alone = run_alone(settings(), requests);
  Settings s = settings();
  s.max_num_seqs = 12;
  s.kv_pages = 16;
  Engine engine(s, registry(), quiet);
  Records records;
  records.keeps_steps = false;
  Results results;
  for (const Request& r : requests) REQUIRE(submit(engine, r, results));
  while (engine.iterate(records)) {
  }
  REQUIRE(results.size() == 200);
  int preempted = 0;
  for (const auto& [key, result] : results) {
    INFO("request " << key);
    check_same(result, alone.at(key));
    preempted += result.preemptions > 0;
  }
  CHECK(preempted >= 100);
  CHECK(engine.held_pages() == 0);
  CHECK(records.requests.size() == 200);
  for (const auto& sample : records.samples) CHECK(sample.blocks_used <= sample.blocks_total);
  const auto& middle = records.samples[records.samples.size() / 2];
  CHECK(static_cast<std::int64_t>(records.samples.back().host_rss_bytes) <=
        static_cast<std::int64_t>(middle.host_rss_bytes) + kSlackBytes);
}

TEST_CASE("Of ten thousand requests through one engine the last equals the first") {
  Settings s = settings();
  s.max_num_seqs = 16;
  s.prefix_cache = true;
  Engine engine(s, registry(), quiet);
  Records records;
  records.keeps_steps = false;
  const Request same = request(77, 33, 20);
  const Result first = engine.run(same, records);
  std::size_t ended = 0;
  for (std::uint64_t k = 0; k < 10'000; ++k) {
    engine.submit(request(1000 + k, 1 + static_cast<int>(k % 5), 2),
                  {.on_tokens = {}, .cancelled = {}, .on_end = [&](const Result&) { ++ended; }});
    if (k % 16 == 15) engine.iterate(records);
  }
  while (engine.iterate(records)) {
  }
  CHECK(ended == 10'000);
  check_same(engine.run(same, records), first);
  CHECK(engine.held_pages() == 0);
  const auto& middle = records.samples[records.samples.size() / 2];
  CHECK(static_cast<std::int64_t>(records.samples.back().host_rss_bytes) <=
        static_cast<std::int64_t>(middle.host_rss_bytes) + kSlackBytes);
}

TEST_CASE("Sixteen copies of a prompt have the acceptance of one") {
  Settings s = settings();
  s.draft = choice("draft_model", {{"model", small_model()}});
  s.accept = choice("accept_match");
  s.sampler = {temperature("0"), choice("sample_penalty", {{"repetition", "1.2"}})};
  const Result alone = run_alone(s, {request(5, 30, 40)}).at(5);
  s.max_num_seqs = 16;
  Engine engine(s, registry(), quiet);
  trace::NoTrace sink;
  Results results;
  for (std::uint64_t k = 0; k < 16; ++k) {
    Request copy = request(5, 30, 40);
    copy.key = 1000 + k;
    REQUIRE(submit(engine, copy, results));
  }
  while (engine.iterate(sink)) {
  }
  CHECK(alone.counts.accepted_by_rule > 0);
  for (const auto& [key, result] : results) check_same(result, alone);
}

// Round robin at one row: prompts go on beside a sequence that decodes, and no token waits longer
// than it takes to serve the others once.
TEST_CASE("Every running sequence is served within as many iterations as there are, at one row") {
  Settings s = settings();
  s.rows_per_step = 1;
  s.max_num_seqs = 3;
  Engine engine(s, registry(), quiet);
  Records records;
  Results results;
  std::vector<Request> requests;
  for (std::uint64_t k = 0; k < 3; ++k) requests.push_back(request(k, 8, 12));
  for (const Request& r : requests) REQUIRE(submit(engine, r, results));
  while (engine.iterate(records)) {
  }
  std::map<std::uint64_t, std::vector<std::uint64_t>> batches;  // of each request's tokens
  for (const auto& step : records.steps) {
    CHECK(step.last_token >= 0);
    batches[step.request_key].push_back(step.batch_id);
  }
  for (const auto& [key, of_tokens] : batches)
    for (std::size_t k = 1; k < of_tokens.size(); ++k) CHECK(of_tokens[k] - of_tokens[k - 1] <= 3);
  CHECK(batches[2].front() < batches[0].back());
  for (const auto& batch : records.batches) CHECK(batch.n_rows <= 1);
  const Results alone = run_alone(s, requests);
  for (const auto& [key, result] : results) check_same(result, alone.at(key));
}

}  // namespace
