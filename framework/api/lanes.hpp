// SPDX-License-Identifier: Apache-2.0
// Sums over eight lanes in a fixed tree: vectorised without reassociation, so the bits are the same
// on every machine.
#pragma once
#include <cstddef>

namespace redline {

inline constexpr std::size_t kLanes = 8;

template <class F>
double lane_sum(std::size_t count, F&& term) {
  double lane[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (std::size_t j = 0; j < kLanes; ++j) lane[j] += term(i + j);
  for (; i < count; ++i) lane[i % kLanes] += term(i);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

}  // namespace redline
