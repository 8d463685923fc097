// SPDX-License-Identifier: Apache-2.0
#include "check/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace redline::check {
namespace {

constexpr double kSmall = 1e-16;
constexpr int kTerms = 10'000;  // no series here needs as many

// The regularised incomplete gamma function below x, by its series: fast for x < a + 1.
double gamma_below(double a, double x) {
  double term = 1 / a, sum = term;
  for (int k = 1; k < kTerms && term > sum * kSmall; ++k) sum += term *= x / (a + k);
  return sum * std::exp(a * std::log(x) - x - std::lgamma(a));
}

// The same above x, by its continued fraction (Lentz): fast for x > a + 1.
double gamma_above(double a, double x) {
  double b = x + 1 - a, c = 1 / kSmall, d = 1 / b, h = d;
  for (int k = 1; k < kTerms; ++k) {
    const double an = -k * (k - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (std::abs(d * c - 1) < kSmall * 10) break;
  }
  return h * std::exp(a * std::log(x) - x - std::lgamma(a));
}

// Where a falling function crosses `wanted` between low and high.
template <class F>
double crossing(F&& falling, double wanted, double low, double high) {
  for (int k = 0; k < 200 && high - low > 1e-12 * high; ++k) {
    const double middle = (low + high) / 2;
    (falling(middle) > wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace

double normal_tails(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

double normal_quantile(double p) {
  return crossing([](double z) { return std::erfc(z / std::sqrt(2.0)) / 2; }, 1 - p, -40, 40);
}

double chi_square_tail(double x, double df) {
  const double a = df / 2, half = x / 2;
  if (x <= 0) return 1;
  return half < a + 1 ? 1 - gamma_below(a, half) : gamma_above(a, half);
}

// A Poisson mixture of central ones: terms within twelve deviations of its mean.
double chi_square_tail(double x, double df, double lambda) {
  const double mean = lambda / 2, reach = 12 * std::sqrt(mean) + 20;
  double sum = 0;
  for (double j = std::max(0.0, std::floor(mean - reach)); j <= mean + reach; ++j) {
    const double weight =
        mean > 0 ? std::exp(j * std::log(mean) - mean - std::lgamma(j + 1)) : (j == 0 ? 1.0 : 0.0);
    sum += weight * chi_square_tail(x, df + 2 * j);
  }
  return std::min(1.0, sum);
}

double kolmogorov_tail(double distance, double samples) {
  const double root = std::sqrt(samples), t = distance * (root + .12 + .11 / root);
  if (t < .2) return 1;  // the series needs many terms where the answer is 1 to ten digits
  double sum = 0;
  for (int k = 1; k <= 100; ++k) sum += (k % 2 == 1 ? 2 : -2) * std::exp(-2 * k * k * t * t);
  return std::clamp(sum, 0.0, 1.0);
}

double detectable_noncentrality(double df, double size, double power) {
  const double critical =
      crossing([df](double x) { return chi_square_tail(x, df); }, size, 0, 20 * df + 400);
  return crossing([&](double lambda) { return 1 - chi_square_tail(critical, df, lambda); },
                  1 - power, 0, 20 * df + 400);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto left = static_cast<double>(order.size() - k);
    adjusted[order[k]] = highest = std::max(highest, std::min(1.0, left * p[order[k]]));
  }
  return adjusted;
}

}  // namespace redline::check
