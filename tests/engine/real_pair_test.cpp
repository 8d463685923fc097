// SPDX-License-Identifier: Apache-2.0
// Eight sequences at once on the real pair, for who asks for it: REDLINE_REAL_PAIR=1.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "engine/crowd.hpp"

namespace {

using namespace redline;
using namespace tests;

TEST_CASE("Eight sequences at once on the real pair give what each gives alone") {
  if (!std::getenv("REDLINE_REAL_PAIR")) {
    WARN("not asked for: set REDLINE_REAL_PAIR=1");
    return;
  }
  Settings s;
  s.target = "qwen2.5-coder-1.5b-instruct-q4_k_m";
  s.draft = choice("draft_model", {{"model", "qwen2.5-coder-0.5b-instruct-q4_k_m"}});
  s.accept = choice("accept_ratio");
  s.sampler = {temperature("0.7")};
  s.max_model_len = 128;
  s.rows_per_step = 64;
  s.kv_pages = 40;  // too few for eight: some are preempted
  std::vector<Request> requests;
  for (int k = 0; k < 8; ++k) {
    Request r;
    r.key = 100U + static_cast<std::uint64_t>(k);
    for (int i = 0; i < 20 + 7 * k; ++i) r.prompt.push_back(1000 + (i * i + k) % 500);
    r.max_tokens = 24;
    r.ignore_eos = true;
    requests.push_back(std::move(r));
  }
  const Results alone = run_alone(s, requests);
  s.max_num_seqs = 8;
  Engine engine(s, registry(), quiet);
  trace::NoTrace sink;
  Results results;
  for (const Request& r : requests) REQUIRE(submit(engine, r, results));
  while (engine.iterate(sink)) {
  }
  REQUIRE(results.size() == 8);
  for (const auto& [key, result] : results) check_same(result, alone.at(key));
  CHECK(engine.held_pages() == 0);
}

}  // namespace
