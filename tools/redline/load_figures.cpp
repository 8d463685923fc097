// SPDX-License-Identifier: Apache-2.0
#include "redline/load_figures.hpp"

#include <algorithm>
#include <cmath>

#include "redline/error.hpp"

namespace redline::tool {
namespace {

struct Window {  // ends of iterations, ns
  std::int64_t from, to;
  bool holds(std::int64_t end_ns) const { return from < end_ns && end_ns <= to; }
};

std::int64_t end_of(const trace::BatchRecord& b) { return b.t_start_ns + b.total_ns; }

std::int64_t end_of_iteration(std::span<const trace::BatchRecord> batches, std::int64_t time_ns) {
  return end_of(*std::ranges::lower_bound(batches, time_ns, {}, end_of));
}

Window window_of(std::span<const engine::Result> results,
                 std::span<const trace::BatchRecord> batches) {
  const auto first = [](const engine::Result& r) { return r.times.front().end_ns; };
  const auto last = [](const engine::Result& r) { return r.times.back().end_ns; };
  const auto begun = std::ranges::max(results, {}, first),
             done = std::ranges::min(results, {}, last);
  const Window window{end_of_iteration(batches, first(begun)),
                      end_of_iteration(batches, last(done))};
  if (window.from >= window.to)
    throw InputError("bench engine: of " + std::to_string(results.size()) +
                     " sequences the first to end had ended before the last began, so no step had "
                     "all of them; raise --tokens");
  return window;
}

// A token's time is its step's, shared by the tokens that the step gave its sequence; sorted.
std::vector<double> token_times_ms(std::span<const engine::Result> results, const Window& window) {
  std::vector<double> times;
  for (const engine::Result& r : results)
    for (std::size_t k = 1; k < r.times.size(); ++k) {
      const auto [end_ns, emitted] = r.times[k];
      if (!window.holds(end_ns)) continue;
      const double step_ms = static_cast<double>(end_ns - r.times[k - 1].end_ns) / 1e6;
      times.insert(times.end(), emitted, step_ms / emitted);
    }
  std::ranges::sort(times);
  return times;
}

std::int64_t steps_in(std::span<const engine::Result> results, const Window& window) {
  std::int64_t steps = 0;
  for (const engine::Result& r : results)
    steps += std::ranges::count_if(
        r.times, [&](const engine::StepTime& t) { return window.holds(t.end_ns); });
  return steps;
}

double quantile(const std::vector<double>& sorted, double q) {  // the nearest rank
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void add_shares(LoadFigures& figures, std::span<const trace::BatchRecord> batches,
                const Window& window) {
  double total = 0, iterations = 0;
  for (const trace::BatchRecord& b : batches) {
    if (!window.holds(end_of(b))) continue;
    const std::array<std::int64_t, kParts.size() - 1> parts{
        b.draft_ns, b.target_ns, b.sample_ns, b.verify_ns, b.kv_ns, b.log_ns, b.sched_ns};
    for (std::size_t k = 0; k < parts.size(); ++k)
      figures.shares[k] += static_cast<double>(parts[k]);
    total += static_cast<double>(b.total_ns);
    ++iterations;
  }
  double rest = 1;
  for (double& share : figures.shares) rest -= share /= total;
  figures.shares.back() = rest;
  figures.step_ms = total / iterations / 1e6;
}

}  // namespace

LoadFigures figures_of(std::span<const engine::Result> results,
                       std::span<const trace::BatchRecord> batches) {
  const Window window = window_of(results, batches);
  const std::vector<double> times = token_times_ms(results, window);
  const auto tokens = static_cast<double>(times.size());
  LoadFigures figures;
  figures.tokens_per_s = tokens / (static_cast<double>(window.to - window.from) / 1e9);
  figures.median_ms = quantile(times, 0.5);
  figures.p95_ms = quantile(times, 0.95);
  figures.tokens_per_step = tokens / static_cast<double>(steps_in(results, window));
  add_shares(figures, batches, window);
  return figures;
}

}  // namespace redline::tool
