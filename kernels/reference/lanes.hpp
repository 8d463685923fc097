// SPDX-License-Identifier: Apache-2.0
// What every instruction set must reproduce bit for bit: the combine tree of 16 virtual lanes and
// the exponential.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "layout.hpp"

namespace redline::kernels {
namespace {

// Lanes i and i + 8, then i and i + 4, i + 2, i + 1.
template <class Number>
Number sum_lanes(const Number* lanes) {
  Number left[kLanes];
  for (int i = 0; i < kLanes; ++i) left[i] = lanes[i];
  for (int width = 8; width >= 1; width /= 2)
    for (int i = 0; i < width; ++i) left[i] = left[i] + left[i + width];
  return left[0];
}

// exp of one float within 2 ulp: x = n ln 2 + r, Taylor to r^7. Exactly 0 below -87; values above
// 88 give exp(88); NaN stays NaN.
inline float exp32(float x) {
  const float bounded = 88.0f < x ? 88.0f : x;
  const float shifted = std::fma(bounded, 0x1.715476p+0f, 0x1.8p23f);  // n in the low bits
  const float n = shifted - 0x1.8p23f;
  float r = std::fma(n, -0x1.63p-1f, bounded);
  r = std::fma(n, 0x1.bd0106p-13f, r);
  float series = 1.0f / 5040;
  for (float c : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
    series = std::fma(series, r, c);
  const std::uint32_t power = (std::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f800000u;
  return x < -87.0f ? 0.0f : series * std::bit_cast<float>(power);
}

}  // namespace
}  // namespace redline::kernels
