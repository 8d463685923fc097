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

// With e = exp(x - best) and their sum Z: the entropy is log Z - sum e (x - best) / Z. p, if it is
// not null: where e stays, as float32. inverse: 1 / Z.
Spread exponentials(const float* logits, std::int64_t vocab, float* p, float* inverse) {
  const float best = largest(logits, vocab);
  double sums[kLanes] = {}, products[kLanes] = {};
  for (std::int64_t i = 0; i < vocab; ++i) {
    const float below = logits[i] - best, power = exp32(below);
    if (p) p[i] = power;
    sums[i % kLanes] = sums[i % kLanes] + static_cast<double>(power);
    products[i % kLanes] =
        products[i % kLanes] + static_cast<double>(below < -87.0f ? 0.0f : power * below);
  }
  const double sum = sum_lanes(sums), log_sum = log64(sum);
  *inverse = static_cast<float>(1.0 / sum);
  return {static_cast<double>(best) + log_sum, log_sum - sum_lanes(products) / sum};
}

Spread softmax(const float* logits, std::int64_t vocab, float* p) {
  float inverse = 0;
  const Spread spread = exponentials(logits, vocab, p, &inverse);
  for (std::int64_t i = 0; i < vocab; ++i) p[i] = p[i] * inverse;
  return spread;
}

Spread spread(const float* logits, std::int64_t vocab) {
  float inverse = 0;
  return exponentials(logits, vocab, nullptr, &inverse);
}

bool block_maxima(const float* logits, std::int64_t vocab, float* maxima) {
  bool are_usable = true;
  for (std::int64_t begin = 0; begin < vocab; begin += kMaximaBlock) {
    const std::int64_t count = vocab - begin < kMaximaBlock ? vocab - begin : kMaximaBlock;
    maxima[begin / kMaximaBlock] = largest(logits + begin, count);
    for (std::int64_t i = begin; i < begin + count; ++i)
      are_usable = are_usable && logits[i] < std::numeric_limits<float>::infinity();
  }
  return are_usable;
}

}  // namespace

void install_reference_vocabulary(Ops& ops) {
  ops.argmax = argmax;
  ops.softmax = softmax;
  ops.spread = spread;
  ops.block_maxima = block_maxima;
}

}  // namespace redline::kernels
