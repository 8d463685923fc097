// SPDX-License-Identifier: Apache-2.0
#include "experiment/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

#include "experiment/metrics.hpp"

namespace redline::experiment {
namespace {

constexpr std::uint64_t kSeed = 1;

// Places in [0, n), by whole numbers alone: the same on every machine.
class Places {
 public:
  explicit Places(std::size_t n) : n_(n) {}
  std::size_t operator()() { return ((generator_() >> 32) * n_) >> 32; }

 private:
  std::mt19937_64 generator_{kSeed};
  std::uint64_t n_;
};

Part sum_of(std::span<const Part> parts) {
  Part sum;
  for (const Part& p : parts) sum.over += p.over, sum.under += p.under;
  return sum;
}
double ratio(const Part& p) {
  return p.under > 0 ? p.over / p.under : std::numeric_limits<double>::quiet_NaN();
}

// The sums of one resample; `to` may be empty.
double resampled(std::span<const Part> of, std::span<const Part> to, Places& places) {
  Part a, b;
  for (std::size_t i = 0; i < of.size(); ++i) {
    const std::size_t at = places();
    a.over += of[at].over, a.under += of[at].under;
    if (!to.empty()) b.over += to[at].over, b.under += to[at].under;
  }
  return to.empty() ? ratio(a) : ratio(a) - ratio(b);
}

double two_sided(const std::vector<double>& values) {
  const auto below = std::ranges::count_if(values, [](double v) { return v <= 0; });
  const auto above = std::ranges::count_if(values, [](double v) { return v >= 0; });
  const double tail = static_cast<double>(std::min(below, above) + 1);
  return std::min(1., 2 * tail / static_cast<double>(values.size() + 1));
}

Estimate estimate(double value, std::span<const Part> of, std::span<const Part> to) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  if (!std::isfinite(value) || of.size() < 2) return {value, unknown, unknown, 1};
  Places places(of.size());
  std::vector<double> values;
  values.reserve(kResamples);
  while (values.size() < kResamples) {
    const double v = resampled(of, to, places);
    if (std::isfinite(v)) values.push_back(v);
  }
  const double percent = 100 * kLevel / 2;
  return {value, percentile(values, percent), percentile(values, 100 - percent), two_sided(values)};
}

}  // namespace

double ratio_of_sums(std::span<const Part> parts) { return ratio(sum_of(parts)); }

Estimate paired_difference(std::span<const Part> of, std::span<const Part> to) {
  return estimate(ratio_of_sums(of) - ratio_of_sums(to), of, to);
}

Estimate mean_estimate(std::span<const Part> parts) {
  return estimate(ratio_of_sums(parts), parts, {});
}

std::vector<bool> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<bool> holds(p.size(), false);
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    if (p[order[rank]] > kLevel / static_cast<double>(p.size() - rank)) break;
    holds[order[rank]] = true;
  }
  return holds;
}

}  // namespace redline::experiment
