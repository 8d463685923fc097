// SPDX-License-Identifier: Apache-2.0
// exp32 of reference/lanes.hpp on sixteen lanes. Include after a lanes_*.hpp.
#pragma once

namespace redline::kernels {
namespace {

inline Floats exponential(Floats x) {
  const Floats bounded = smaller(splat(88.0f), x);
  const Floats magic = splat(0x1.8p23f);
  const Floats shifted = fma(bounded, splat(0x1.715476p+0f), magic);
  const Floats n = shifted - magic;
  const Floats r = fma(n, splat(0x1.bd0106p-13f), fma(n, splat(-0x1.63p-1f), bounded));
  Floats series = splat(1.0f / 5040);
  series = fma(series, r, splat(1.0f / 720));
  series = fma(series, r, splat(1.0f / 120));
  series = fma(series, r, splat(1.0f / 24));
  series = fma(series, r, splat(1.0f / 6));
  series = fma(series, r, splat(0.5f));
  series = fma(series, r, splat(1.0f));
  series = fma(series, r, splat(1.0f));
  return zero_below(x, splat(-87.0f), series * power_of_two(shifted));
}

}  // namespace
}  // namespace redline::kernels
