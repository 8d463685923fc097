// SPDX-License-Identifier: Apache-2.0
#include "parallel/communicator.hpp"

#include <catch2/catch.hpp>

#include "collectives.hpp"
#include "redline/error.hpp"

using namespace redline;

TEST_CASE("One rank gathers, sums and broadcasts to itself") {
  parallel::Solo solo;
  CHECK(solo.rank() == 0);
  CHECK(solo.size() == 1);
  CHECK_NOTHROW(tests::collectives_hold(solo));
}

TEST_CASE("A gather of another size than announced is an error") {
  parallel::Solo solo;
  std::vector<float> mine(3), all(2);
  const std::vector<std::int64_t> two = {2}, three = {3};
  CHECK_THROWS_AS(solo.gather(mine, two, all, 0), Error);
  CHECK_THROWS_AS(solo.gather(mine, three, all, 0), Error);
}
