// SPDX-License-Identifier: Apache-2.0
#include "parallel/communicator.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "redline/error.hpp"

using namespace redline;

TEST_CASE("One rank gathers, sums and broadcasts to itself") {
  parallel::Solo solo;
  CHECK(solo.rank() == 0);
  CHECK(solo.size() == 1);
  std::vector<float> values = {1, 2, 3}, all(3);
  solo.all_reduce(values);
  solo.all_gather(values, all);
  CHECK(values == std::vector<float>{1, 2, 3});
  CHECK(all == values);
}

TEST_CASE("A gather into too little room is an error") {
  parallel::Solo solo;
  std::vector<float> mine(3), all(2);
  CHECK_THROWS_AS(solo.all_gather(mine, all), Error);
}
