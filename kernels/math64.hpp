// SPDX-License-Identifier: Apache-2.0
// Elementary functions in float64 from additions, multiplications and divisions alone, so that they
// give the same bits on every machine (a libm picks variants by processor). Within a few ulp.
#pragma once

namespace redline::kernels {

double log64(double x);  // x > 0, normal, finite; anything else: NaN
double exp64(double x);  // |x| < 700

struct SinCos {
  double sin, cos;
};
SinCos sincos64(double angle);  // |angle| < 2^30

}  // namespace redline::kernels
