// SPDX-License-Identifier: Apache-2.0
// Reductions over one row of logits.
#include <limits>

#include "families.hpp"
#include "math64.hpp"
#include "reference/lanes.hpp"

namespace redline::kernels {
namespace {

float largest(const float* logits, std::int64_t vocab) {  // NaNs are passed over
  float best = -std::numeric_limits<float>::infinity();
  for (std::int64_t i = 0; i < vocab; ++i) best = logits[i] > best ? logits[i] : best;
  return best;
}

std::int64_t argmax(const float* logits, std::int64_t vocab) {
  const float best = largest(logits, vocab);
  for (std::int64_t i = 0; i < vocab; ++i)
    if (logits[i] == best) return i;
  return 0;  // nothing but NaNs
}

double log_sum_exp(const float* logits, std::int64_t vocab) {
  const float best = largest(logits, vocab);
  double sums[kLanes] = {};
  for (std::int64_t i = 0; i < vocab; ++i)
    sums[i % kLanes] = sums[i % kLanes] + static_cast<double>(exp32(logits[i] - best));
  return static_cast<double>(best) + log64(sum_lanes(sums));
}

double softmax(const float* logits, std::int64_t vocab, float* p) {
  const float best = largest(logits, vocab);
  double sums[kLanes] = {};
  for (std::int64_t i = 0; i < vocab; ++i) {
    p[i] = exp32(logits[i] - best);
    sums[i % kLanes] = sums[i % kLanes] + static_cast<double>(p[i]);
  }
  const float inverse = static_cast<float>(1.0 / sum_lanes(sums));
  double totals[kLanes] = {};
  for (std::int64_t i = 0; i < vocab; ++i) {
    p[i] = p[i] * inverse;
    totals[i % kLanes] = totals[i % kLanes] + static_cast<double>(p[i]);
  }
  return sum_lanes(totals);
}

}  // namespace

void install_reference_vocabulary(Ops& ops) {
  ops.argmax = argmax;
  ops.log_sum_exp = log_sum_exp;
  ops.softmax = softmax;
}

}  // namespace redline::kernels
