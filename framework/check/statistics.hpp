// SPDX-License-Identifier: Apache-2.0
// The distribution functions behind the p-values of statistical gates, and what a gate of so many
// samples can see.
#pragma once
#include <span>
#include <vector>

namespace redline::check {

double normal_tails(double z);                               // P(|Z| >= |z|)
double normal_quantile(double p);                            // z with P(Z <= z) = p, 0 < p < 1
double chi_square_tail(double x, double df);                 // P(X >= x)
double chi_square_tail(double x, double df, double lambda);  // the same of noncentrality lambda
double kolmogorov_tail(double distance, double samples);     // P(D >= distance), asymptotic

// The noncentrality that a chi-square test of this size detects with this power.
double detectable_noncentrality(double df, double size, double power);

// Holm's adjusted p-values, in the order given: all below `size` hold at `size` together.
std::vector<double> holm(std::span<const double> p);

}  // namespace redline::check
