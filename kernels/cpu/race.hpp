// SPDX-License-Identifier: Apache-2.0
// reference/probabilities.cpp with the noise of many tokens at once, and logarithms only in a block
// that has a token which may win. Include after Words: kWords numbers of 64 bits.
#pragma once
#include "math64.hpp"
#include "philox.hpp"
#include "redline/kernels/probabilities.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kPairs = 64, kTokens = 2 * kPairs;  // of a block

// The cells that kPairs pairs of tokens drew; `lane` is of the first pair.
inline void draw(const Noise& noise, std::uint32_t lane, std::uint64_t* even, std::uint64_t* odd) {
  for (std::int64_t j = 0; j < kPairs; j += kWords) {
    auto k0 = static_cast<std::uint32_t>(noise.key);
    auto k1 = static_cast<std::uint32_t>(noise.key >> 32);
    // Low halves alone count: what a product leaves above them is never read.
    Words a = splat(noise.counter[0]), b = splat(noise.counter[1]), c = splat(noise.counter[2]);
    Words d = rising_from(lane + static_cast<std::uint32_t>(j));
    for (int round = 0; round < kPhiloxRounds; ++round) {
      const Words x = product(a, splat(kPhiloxFactors[0])),
                  y = product(c, splat(kPhiloxFactors[1]));
      a = high_half(y) ^ b ^ splat(k0), b = y;
      c = high_half(x) ^ d ^ splat(k1), d = x;
      k0 += kPhiloxSteps[0], k1 += kPhiloxSteps[1];
    }
    store(even + j, cell(a, b));
    store(odd + j, cell(c, d));
  }
}

// 1 - u of a cell, exactly: its bits below a leading 1 are 1 + cell / 2^52.
inline double beyond(std::uint64_t cell) {
  return 2 - __builtin_bit_cast(double, cell | 0x3ff0000000000000u) - 0x1p-53;
}

inline void enter(const double* p, const double* rest, std::int64_t begin, std::int64_t count,
                  Arrival& best) {
  std::int64_t may_win = 0;  // a sum, not a break, so that the pass is vectorised
  for (std::int64_t i = 0; i < count; ++i) may_win += rest[i] < p[i] * best.time ? 1 : 0;
  if (may_win == 0) return;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!(rest[i] < p[i] * best.time)) continue;
    const double time = -log64(1 - rest[i]) / p[i];
    if (time < best.time) best = {begin + i, time};
  }
}

Arrival race(const Noise& noise, const double* p, std::int64_t begin, std::int64_t count,
             Arrival best) {
  std::uint64_t even[kPairs], odd[kPairs];
  double rest[kTokens];
  for (std::int64_t i = 0; i < count; i += kTokens) {
    draw(noise, static_cast<std::uint32_t>((begin + i) / 2), even, odd);
    for (std::int64_t j = 0; j < kPairs; ++j)
      rest[2 * j] = beyond(even[j]), rest[2 * j + 1] = beyond(odd[j]);
    enter(p + i, rest, begin + i, count - i < kTokens ? count - i : kTokens, best);
  }
  return best;
}

}  // namespace
}  // namespace redline::kernels
