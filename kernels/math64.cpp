// SPDX-License-Identifier: Apache-2.0
#include "math64.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace redline::kernels {
namespace {

// log 2 and pi / 2 in parts whose leading ones have trailing zeros: products with small integers
// are exact.
constexpr double kLn2High = 0x1.62e42fefa2p-1, kLn2Low = 0x1.9ef35793c7673p-41;
constexpr double kHalfPi1 = 0x1.921fb544p+0, kHalfPi2 = 0x1.0b4611a6p-34,
                 kHalfPi3 = 0x1.3198a2e037073p-69;
constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1, kOneOverLn2 = 0x1.71547652b82fep+0;

std::int64_t nearest(double x) { return static_cast<std::int64_t>(x + (x < 0 ? -0.5 : 0.5)); }

}  // namespace

double log64(double x) {
  if (!(x >= std::numeric_limits<double>::min() && x <= std::numeric_limits<double>::max()))
    return std::numeric_limits<double>::quiet_NaN();
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);  // [1, 2)
  if (m > 1.4142135623730951) m *= 0.5, ++exponent;
  const double s = (m - 1) / (m + 1), square = s * s;  // log m = 2 atanh s, |s| <= 0.172
  double series = 0;
  for (int n = 23; n >= 3; n -= 2) series = (series + 1.0 / n) * square;
  return exponent * kLn2High + (exponent * kLn2Low + (2 * s + 2 * s * series));
}

double exp64(double x) {
  const std::int64_t n = nearest(x * kOneOverLn2);
  const double r = x - static_cast<double>(n) * kLn2High - static_cast<double>(n) * kLn2Low;
  double series = 1;
  for (int k = 14; k >= 1; --k) series = 1 + series * r / k;
  return series * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

SinCos sincos64(double angle) {
  const std::int64_t n = nearest(angle * kTwoOverPi);
  const double turns = static_cast<double>(n);
  const double r = angle - turns * kHalfPi1 - turns * kHalfPi2 - turns * kHalfPi3;
  const double square = r * r;
  double sine = 1, cosine = 1;  // Taylor, |r| <= pi / 4
  for (int k = 18; k >= 2; k -= 2) {
    sine = 1 - sine * square / (k * (k + 1));
    cosine = 1 - cosine * square / (k * (k - 1));
  }
  sine *= r;
  switch (n & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

}  // namespace redline::kernels
