// SPDX-License-Identifier: Apache-2.0
#include "experiment/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace redline::experiment {
namespace {

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN();
}

void count(const RequestSteps& request, Acceptance& a) {
  ++a.requests;
  a.steps += request.steps;
  a.committed += request.committed;
  a.emitted += request.emitted;
  a.output_tokens += request.output_tokens;
  for (std::size_t i = 0; i < request.drafted.size(); ++i) {
    const std::size_t l = request.drafted[i], j = std::min<std::size_t>(request.accepted[i], l);
    ++a.drafting_steps;
    a.drafted += l;
    a.accepted += j;
    if (a.histogram_by_draft_length.size() <= l) {
      a.histogram_by_draft_length.resize(l + 1);
      a.acceptance_histogram.resize(l + 1);
    }
    a.histogram_by_draft_length[l].resize(l + 1);
    ++a.histogram_by_draft_length[l][j];
    ++a.acceptance_histogram[j];
  }
}

// Both profiles by position: of all drafting steps, and of those that came as far.
void add_profiles(Acceptance& a) {
  const auto& histogram = a.acceptance_histogram;
  std::uint64_t reached = a.drafting_steps;
  for (std::size_t i = 0; i + 1 < histogram.size(); ++i) {
    const std::uint64_t passed = reached - histogram[i];
    a.acceptance_at_pos.push_back(ratio(passed, a.drafting_steps));
    a.conditional_acceptance.push_back(ratio(passed, reached));
    reached = passed;
  }
}

double macro_length(std::span<const RequestSteps> requests) {
  std::vector<double> lengths;
  for (const RequestSteps& r : requests) {
    if (r.drafted.empty()) continue;
    const double accepted = std::accumulate(r.accepted.begin(), r.accepted.end(), 0.0);
    lengths.push_back(1 + accepted / static_cast<double>(r.drafted.size()));
  }
  return mean(lengths);
}

double accepted_per_verified(const Acceptance& a) {
  double sum = 0;
  for (std::size_t l = 0; l < a.histogram_by_draft_length.size(); ++l)
    for (std::size_t j = 0; j < a.histogram_by_draft_length[l].size(); ++j)
      sum += static_cast<double>(a.histogram_by_draft_length[l][j]) * static_cast<double>(j + 1) /
             static_cast<double>(l + 1);
  return ratio(sum, a.drafting_steps);
}

}  // namespace

Acceptance acceptance_of(std::span<const RequestSteps> requests) {
  Acceptance a{};
  for (const RequestSteps& request : requests) count(request, a);
  const double S = a.drafting_steps, A = a.accepted, D = a.drafted, N = a.emitted, steps = a.steps;
  a.mean_accepted_draft_tokens = ratio(A, S);
  a.mean_acceptance_length = 1 + a.mean_accepted_draft_tokens;
  a.mat_micro = ratio(N, steps);
  a.block_efficiency = a.mat_micro;
  a.al_macro = macro_length(requests);
  a.eagle_tau = ratio(N, steps - static_cast<double>(a.requests));
  a.sglang_accept_length = ratio(a.output_tokens, steps);
  a.specdec_bench_al = ratio(a.output_tokens, steps + static_cast<double>(a.requests));
  a.draft_acceptance_rate = ratio(A, D);
  a.sglang_log_accept_rate = ratio(A + S, D + S);
  a.system_efficiency = ratio(N - (steps - S), D + S);  // a step without a draft emits one
  a.accepted_per_verified = accepted_per_verified(a);
  a.draft_coverage = ratio(S, steps);
  a.mean_draft_length = ratio(D, S);
  a.wasted_after_stop = a.committed - std::min(a.committed, a.emitted);
  add_profiles(a);
  return a;
}

double mean(std::span<const double> values) {
  return ratio(std::accumulate(values.begin(), values.end(), 0.0), values.size());
}

double standard_deviation(std::span<const double> values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double v : values) squares += (v - middle) * (v - middle);
  return std::sqrt(ratio(squares, values.size()));
}

double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  const double rank = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (rank - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace redline::experiment
