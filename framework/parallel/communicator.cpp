// SPDX-License-Identifier: Apache-2.0
#include "parallel/communicator.hpp"

#include <algorithm>
#include <string>

#include "redline/error.hpp"

namespace redline::parallel {

void Solo::all_gather(std::span<const float> mine, std::span<float> all) {
  if (mine.size() != all.size())
    throw Error("all_gather on one rank: " + std::to_string(mine.size()) +
                " values into room for " + std::to_string(all.size()));
  std::copy(mine.begin(), mine.end(), all.begin());
}

}  // namespace redline::parallel
