// SPDX-License-Identifier: Apache-2.0
// Arithmetic of acceptance and latency, under the names other tools print. Every figure derives
// from counts of real events; what has a zero denominator is NaN, null in JSON.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace redline::experiment {

struct RequestSteps {                            // one request's verify steps
  std::vector<std::uint16_t> drafted, accepted;  // of the steps that drafted; accepted <= drafted
  std::uint64_t steps = 0;                       // all verify steps
  std::uint64_t committed = 0, emitted = 0;  // by verify steps: the prefill's token is in neither
  std::uint64_t output_tokens = 0;           // emitted, and the prefill's token
};

// Symbols: S steps that drafted, A accepted, D drafted, N emitted by verify steps.
struct Acceptance {
  std::uint64_t requests = 0, steps = 0, drafting_steps = 0, drafted = 0, accepted = 0,
                committed = 0, emitted = 0, output_tokens = 0;
  double mean_acceptance_length;          // 1 + A/S: vLLM, AIPerf, llama.cpp
  double mean_accepted_draft_tokens;      // A/S
  double mat_micro;                       // N/steps: Spec-Bench's MAT
  double al_macro;                        // mean over requests of each one's 1 + A/S
  double block_efficiency;                // N/target calls after prefill, drafting or not
  double eagle_tau;                       // N/(steps - requests): its counter starts at zero
  double sglang_accept_length;            // output tokens/steps
  double specdec_bench_al;                // output tokens/(steps + requests)
  double draft_acceptance_rate;           // A/D
  double sglang_log_accept_rate;          // (A + S)/(D + S)
  double system_efficiency;               // emitted by drafting steps at most/(sum of drafted + 1)
  double accepted_per_verified;           // mean of (j + 1)/(l + 1)
  double draft_coverage;                  // S/steps
  double mean_draft_length;               // D/S
  std::uint64_t wasted_after_stop = 0;    // committed - emitted
  std::vector<double> acceptance_at_pos;  // share of drafting steps with j >= i + 1
  std::vector<double> conditional_acceptance;       // P(j >= i + 1 given j >= i)
  std::vector<std::uint64_t> acceptance_histogram;  // steps by j, [0, longest draft]
  std::vector<std::vector<std::uint64_t>> histogram_by_draft_length;  // [l][j]
};
Acceptance acceptance_of(std::span<const RequestSteps> requests);

double mean(std::span<const double> values);
double standard_deviation(std::span<const double> values);  // of the population, as NumPy's
// Linear interpolation between closest ranks, NumPy's default; `percent` in [0, 100].
double percentile(std::vector<double> values, double percent);

}  // namespace redline::experiment
