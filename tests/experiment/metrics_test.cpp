// SPDX-License-Identifier: Apache-2.0
#include "experiment/metrics.hpp"

#include <catch2/catch.hpp>
#include <cmath>

using namespace redline::experiment;

namespace {

// 100 tokens: 1 from prefill, then 33 steps that each accept 2 of 3 drafts and emit 3.
RequestSteps worked_example() {
  return {std::vector<std::uint16_t>(33, 3), std::vector<std::uint16_t>(33, 2), 33, 99, 99, 100};
}

}  // namespace

TEST_CASE("One run has as many acceptance numbers as tools, each under its own name") {
  const RequestSteps run = worked_example();
  const Acceptance a = acceptance_of(std::span(&run, 1));
  CHECK(a.mean_acceptance_length == Approx(3.00).epsilon(1e-12));
  CHECK(a.mean_accepted_draft_tokens == Approx(2.00).epsilon(1e-12));
  CHECK(a.mat_micro == Approx(3.00).epsilon(1e-12));
  CHECK(a.al_macro == Approx(3.00).epsilon(1e-12));
  CHECK(a.block_efficiency == Approx(3.00).epsilon(1e-12));
  CHECK(a.sglang_accept_length == Approx(100.0 / 33).epsilon(1e-12));
  CHECK(a.specdec_bench_al == Approx(100.0 / 34).epsilon(1e-12));
  CHECK(a.eagle_tau == Approx(99.0 / 32).epsilon(1e-12));
  CHECK(a.draft_acceptance_rate == Approx(2.0 / 3).epsilon(1e-12));
  CHECK(a.sglang_log_accept_rate == Approx(0.75).epsilon(1e-12));
  CHECK(a.system_efficiency == Approx(0.75).epsilon(1e-12));
  CHECK(a.accepted_per_verified == Approx(0.75).epsilon(1e-12));
  CHECK(a.draft_coverage == 1);
  CHECK(a.acceptance_histogram == std::vector<std::uint64_t>{0, 0, 33, 0});
  CHECK(a.acceptance_at_pos == std::vector<double>{1, 1, 0});
  CHECK(a.conditional_acceptance == std::vector<double>{1, 1, 0});
}

TEST_CASE("The mean acceptance length is one plus the sum of the per-position rates") {
  const RequestSteps run{{4, 2, 3, 1, 4, 1}, {4, 0, 2, 1, 1, 0}, 9, 19, 16, 17};
  const Acceptance a = acceptance_of(std::span(&run, 1));
  double sum = 1;
  for (const double rate : a.acceptance_at_pos) sum += rate;
  CHECK(sum == Approx(a.mean_acceptance_length).epsilon(1e-12));
  CHECK(a.accepted == 8);
  CHECK(a.drafted == 15);
  CHECK(a.wasted_after_stop == 3);
  CHECK(a.draft_coverage == Approx(6.0 / 9));
  CHECK(a.histogram_by_draft_length[1] == std::vector<std::uint64_t>{1, 1});
  CHECK(a.conditional_acceptance[0] == Approx(4.0 / 6));
  CHECK(a.conditional_acceptance[1] == Approx(2.0 / 4));
}

TEST_CASE("The macro length weighs requests, the micro length steps") {
  const RequestSteps runs[] = {{{2, 2}, {2, 2}, 2, 6, 6, 7},
                               {{2, 2, 2, 2, 2, 2}, {0, 0, 0, 0, 0, 0}, 6, 6, 6, 7}};
  const Acceptance a = acceptance_of(runs);
  CHECK(a.al_macro == Approx(2.0));
  CHECK(a.mean_acceptance_length == Approx(1.5));
  CHECK(a.mat_micro == Approx(12.0 / 8));
}

TEST_CASE("What has a zero denominator is no number") {
  const RequestSteps plain{{}, {}, 10, 10, 10, 11};
  const Acceptance a = acceptance_of(std::span(&plain, 1));
  CHECK(std::isnan(a.mean_acceptance_length));
  CHECK(std::isnan(a.draft_acceptance_rate));
  CHECK(std::isnan(a.al_macro));
  CHECK(a.mat_micro == 1);
  CHECK(a.draft_coverage == 0);
  CHECK(a.acceptance_at_pos.empty());
  CHECK(std::isnan(acceptance_of({}).mat_micro));
}

TEST_CASE("Percentiles interpolate linearly as NumPy's do") {
  const std::vector<double> v{10, 1, 4, 3, 2};
  CHECK(percentile(v, 0) == 1);
  CHECK(percentile(v, 50) == 3);
  CHECK(percentile(v, 95) == Approx(8.8));
  CHECK(percentile(v, 99) == Approx(9.76));
  CHECK(percentile(v, 100) == 10);
  CHECK(percentile({7}, 95) == 7);
  CHECK(std::isnan(percentile({}, 50)));
  CHECK(mean(v) == 4);
  CHECK(standard_deviation(v) == Approx(std::sqrt(10.0)));
}
