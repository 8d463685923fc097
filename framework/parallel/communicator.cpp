// SPDX-License-Identifier: Apache-2.0
#include "parallel/communicator.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "redline/error.hpp"

namespace redline::parallel {

void check_parts(std::size_t mine, std::span<const std::int64_t> counts, std::size_t all, int rank,
                 int root) {
  const auto sum = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  if (static_cast<std::int64_t>(mine) != counts[rank])
    throw Error("gather: rank " + std::to_string(rank) + " brings " + std::to_string(mine) +
                " values, expected " + std::to_string(counts[rank]));
  if (rank == root && static_cast<std::int64_t>(all) != sum)
    throw Error("gather: " + std::to_string(sum) + " values into room for " + std::to_string(all));
}

void Solo::gather(std::span<const float> mine, std::span<const std::int64_t> counts,
                  std::span<float> all, int root) {
  check_parts(mine.size(), counts, all.size(), 0, root);
  std::copy(mine.begin(), mine.end(), all.begin());
}

}  // namespace redline::parallel
