// SPDX-License-Identifier: Apache-2.0
#include "parallel/thread_group.hpp"

#include <catch2/catch.hpp>

#include "collectives.hpp"
#include "threads.hpp"

using namespace redline;
using Catch::Matchers::Contains;
using parallel::Communicator;
using parallel::Patience;
using tests::run_ranks;

TEST_CASE("Collectives of threads give every rank the bits of sums in rank order") {
  const int ranks = GENERATE(1, 2, 3, 4, 8);
  for (const std::string& thrown : run_ranks(ranks, tests::collectives_hold)) CHECK(thrown == "");
}

TEST_CASE("A rank that throws ends the calls of all, which name it and why") {
  const auto wait = GENERATE(Patience::LIMIT, Patience::LOAD, Patience::ORDER);
  const auto thrown = run_ranks(4, [&](Communicator& ranks) {
    tests::sums_are_in_rank_order(ranks, 10);
    if (ranks.rank() == 2) throw Error("out of luck");
    std::vector<std::byte> message;
    ranks.broadcast(message, 0, wait);
  });
  CHECK(thrown[2] == "out of luck");
  for (const int rank : {0, 1, 3}) CHECK(thrown[rank] == "rank 2 failed: out of luck");
}

TEST_CASE("A rank that stalls ends the calls of all within the limit, which they name") {
  const bool in_a_small_group = GENERATE(false, true);
  const auto thrown = run_ranks(
      4,
      [&](Communicator& ranks) {
        const auto few = ranks.first(3);
        if (ranks.rank() == 1) std::this_thread::sleep_for(4 * tests::kImpatient);
        if (in_a_small_group && few) tests::sums_are_in_rank_order(*few, 10);
        tests::sums_are_in_rank_order(ranks, 10);
      },
      tests::kImpatient);
  for (const std::string& text : thrown) {
    CHECK_THAT(text, Contains("rank 1 did not reach all_reduce"));
    CHECK_THAT(text, Contains("0.2 s"));
  }
}

TEST_CASE("Ranks that bring different counts to a sum are an error of all") {
  const auto thrown = run_ranks(3, [&](Communicator& ranks) {
    std::vector<float> values(ranks.rank() == 1 ? 4 : 5);
    ranks.all_reduce(values);
  });
  for (const std::string& text : thrown) CHECK_THAT(text, Contains("values"));
}
