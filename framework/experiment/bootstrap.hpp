// SPDX-License-Identifier: Apache-2.0
// Whether a difference is more than chance: percentile bootstrap over requests, and Holm's
// correction for a table of several. Resamples are drawn by a generator of fixed seed, so a report
// says the same each time.
#pragma once
#include <span>
#include <vector>

namespace redline::experiment {

// What one request adds to a mean that is a ratio of sums: tokens kept over steps, say.
struct Part {
  double over = 0, under = 0;
};
double ratio_of_sums(std::span<const Part> parts);  // NaN: nothing stands under

struct Estimate {
  double value = 0, low = 0, high = 0;  // 95 % interval
  double p = 1;                         // two-sided, of the value being 0
  bool excludes_zero() const { return low > 0 || high < 0; }
};

inline constexpr int kResamples = 20'000;
inline constexpr double kLevel = .05;

// Of ratio_of_sums(of) - ratio_of_sums(to), where of[i] and to[i] are of one prompt and seed:
// requests are resampled in pairs. A resample with nothing under a ratio is drawn again.
Estimate paired_difference(std::span<const Part> of, std::span<const Part> to);
Estimate mean_estimate(std::span<const Part> parts);  // of ratio_of_sums(parts)

// Holm: which of these hold when the chance of one false claim among them all is to be kLevel.
std::vector<bool> holm(std::span<const double> p);

}  // namespace redline::experiment
