// SPDX-License-Identifier: Apache-2.0
#include "parallel/time_limit.hpp"

#include <cstdio>

namespace redline::parallel {

std::string late_text(std::span<const int> ranks, std::string_view what,
                      std::chrono::milliseconds waited) {
  std::string names;
  for (const int rank : ranks) names += (names.empty() ? "" : ", ") + std::to_string(rank);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", static_cast<double>(waited.count()) / 1000);
  return (ranks.size() == 1 ? "rank " : "ranks ") + names + " did not reach " + std::string(what) +
         " within the time limit of " + seconds +
         " s: dead or stalled; if only slow, raise parallel.rank_timeout_s";
}

std::string failed_text(int rank, std::string_view why) {
  return "rank " + std::to_string(rank) + " failed: " + std::string(why);
}

}  // namespace redline::parallel
