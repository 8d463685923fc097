// SPDX-License-Identifier: Apache-2.0
// How long ranks wait for one another, and what is said of those that did not come.
#pragma once
#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "parallel/communicator.hpp"

namespace redline::parallel {

inline std::chrono::milliseconds time_limit(std::chrono::milliseconds limit, Patience patience) {
  return patience == Patience::LIMIT ? limit : limit * kLongLimits;
}
std::string late_text(std::span<const int> ranks, std::string_view what,
                      std::chrono::milliseconds waited);
std::string failed_text(int rank, std::string_view why);

}  // namespace redline::parallel
