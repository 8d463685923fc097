// SPDX-License-Identifier: Apache-2.0
// exp(x) for -700 <= x <= 0, branch-free, relative error below 1e-14. Our own because libm picks
// its code by processor, and stored runs must agree between machines.
#pragma once
#include <bit>
#include <cstdint>

namespace redline {

inline double exp_of(double x) {
  constexpr double kLog2E = 1.4426950408889634, kLn2High = 0x1.62e42fee00000p-1,
                   kLn2Low = 0x1.a39ef35793c76p-33, kRound = 0x1.8p52;
  const double shifted = x * kLog2E + kRound;  // the low bits now hold round(x / ln 2)
  const double n = shifted - kRound;
  const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| <= ln 2 / 2
  double y = 1.0 / 479001600;                         // Taylor to r^12, innermost first
  y = y * r + 1.0 / 39916800;
  y = y * r + 1.0 / 3628800;
  y = y * r + 1.0 / 362880;
  y = y * r + 1.0 / 40320;
  y = y * r + 1.0 / 5040;
  y = y * r + 1.0 / 720;
  y = y * r + 1.0 / 120;
  y = y * r + 1.0 / 24;
  y = y * r + 1.0 / 6;
  y = y * r + 0.5;
  y = y * r + 1;
  y = y * r + 1;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(y) +
                               (std::bit_cast<std::uint64_t>(shifted) << 52));
}

}  // namespace redline
