// SPDX-License-Identifier: Apache-2.0
// When a draft model is fed a text: beside the target under a policy of history, otherwise when it
// is first asked to draft; whole, or in chunks while its sequence waits and others go on. What a
// request says does not depend on which.
#include <catch2/catch.hpp>

#include "engine/crowd.hpp"
#include "engine/records.hpp"

namespace {

using namespace redline;
using namespace tests;

void quiet(const std::string&) {}

Settings settings(std::int32_t rows_per_step, int max_depth = 3) {
  Settings s;
  s.target = small_model();
  s.draft = choice("draft_model", {{"model", small_draft()}});
  s.accept = choice("accept_ratio");
  s.length = choice("length_ranges", {{"ranges", "1:" + std::to_string(max_depth)}});
  s.sampler = {temperature("0.8")};
  s.threads = 1;
  s.max_num_seqs = 2;
  s.max_model_len = 256;
  s.rows_per_step = rows_per_step;
  s.cache_folder = tiny_folder();
  return s;
}

Request request(std::uint64_t key, int prompt, int tokens = 20) {
  Request r;
  r.key = key;
  for (Token k = 0; k < prompt; ++k) r.prompt.push_back((k * k * 7 + 3) % 200);
  r.max_tokens = tokens;
  r.ignore_eos = true;
  return r;
}

std::vector<std::uint32_t> fed(const Records& records, std::uint64_t key) {  // step by step
  std::vector<std::uint32_t> out;
  for (const trace::StepRecord& s : records.steps)
    if (s.request_key == key) out.push_back(s.draft_fed);
  return out;
}

TEST_CASE("A draft that is never asked is never fed") {
  Engine engine(settings(64, 0), registry(), quiet);
  Records records;
  const Result result = engine.run(request(1, 100), records);
  REQUIRE(result.tokens.size() == 20);
  for (const std::uint32_t tokens : fed(records, 1)) CHECK(tokens == 0);
}

TEST_CASE("A policy of history has the prompt fed beside the target, and the text is the same") {
  Settings history = settings(256);
  history.length = choice("length_fixed", {{"max_depth", "3"}});
  Engine engine(history, registry(), quiet), asks(settings(256), registry(), quiet);
  Records records, of_asks;
  const Result result = engine.run(request(1, 100), records);
  CHECK(fed(records, 1).at(0) == 99);  // the root is the prompt's last
  CHECK(fed(records, 1).at(1) == 1);
  const Result later = asks.run(request(1, 100), of_asks);
  CHECK(result.tokens == later.tokens);
  CHECK(result.logprobs == later.logprobs);
  CHECK(result.counts == later.counts);
}

TEST_CASE("A prompt is fed to the draft once, by the first step that drafts") {
  Engine engine(settings(256), registry(), quiet);
  Records records;
  const Result result = engine.run(request(1, 100), records);
  const auto by_step = fed(records, 1);
  CHECK(by_step.at(0) == 0);    // the prefill's own token
  CHECK(by_step.at(1) == 100);  // all before the root
  for (std::size_t k = 2; k < by_step.size(); ++k) CHECK(by_step[k] <= 1);  // a draft kept whole
  CHECK(result.draft_ns > 0);
}

TEST_CASE("What is much to feed goes in chunks, and the text is that of one piece") {
  Records whole, parts;
  Engine wide(settings(256), registry(), quiet), narrow(settings(16), registry(), quiet);
  const Result in_one = wide.run(request(1, 100), whole);
  const Result in_many = narrow.run(request(1, 100), parts);
  CHECK(in_many.tokens == in_one.tokens);
  CHECK(in_many.logprobs == in_one.logprobs);
  CHECK(in_many.counts == in_one.counts);
  CHECK(fed(parts, 1) == fed(whole, 1));
  // 12 rows are left beside a draft of three: 100 tokens take eight chunks, the rest rides along.
  const std::uint64_t first = parts.steps.at(0).batch_id, second = parts.steps.at(1).batch_id;
  CHECK(second - first == 1 + 8);
  std::int64_t drafting_ns = 0;
  for (const trace::BatchRecord& b : parts.batches)
    if (b.batch_id > first && b.batch_id < second) {
      CHECK(b.n_rows == 0);  // of the target
      drafting_ns += b.draft_ns;
    }
  CHECK(in_many.draft_ns >= drafting_ns);  // time of decoding, after the first token
  CHECK(parts.count(trace::Event::DRAFT_FED) == 8);
  CHECK(whole.count(trace::Event::DRAFT_FED) == 0);
}

TEST_CASE("Others decode while a draft is fed, and neither text changes") {
  const Request slow = request(1, 100), quick = request(2, 5, 60);
  std::map<std::uint64_t, std::vector<Token>> alone, together;
  for (const Request& r : {slow, quick}) {
    Engine engine(settings(16), registry(), quiet);
    Records records;
    alone[r.key] = engine.run(r, records).tokens;
  }
  Engine engine(settings(16), registry(), quiet);
  Records records;
  for (const Request& r : {slow, quick})
    engine.submit(r, {.on_end = [&, key = r.key](Result result) {
                    together[key] = std::move(result.tokens);
                  }});
  while (engine.iterate(records)) continue;
  CHECK(together == alone);
  std::vector<std::uint64_t> slow_at;
  for (const trace::StepRecord& s : records.steps)
    if (s.request_key == slow.key) slow_at.push_back(s.batch_id);
  int meanwhile = 0;
  for (const trace::StepRecord& s : records.steps)
    meanwhile +=
        s.request_key == quick.key && s.batch_id > slow_at.at(0) && s.batch_id < slow_at.at(1);
  CHECK(meanwhile >= 4);
}

TEST_CASE("With the prefix cache a draft is fed only what no earlier request has left") {
  Settings s = settings(256);
  s.prefix_cache = true;
  Engine engine(s, registry(), quiet);
  Records records;
  const Result first = engine.run(request(1, 100), records);
  const Result again = engine.run(request(2, 100), records);
  CHECK(fed(records, 1).at(1) == 100);
  CHECK(fed(records, 2).at(1) == 100 - 96);  // whole pages
}

}  // namespace
