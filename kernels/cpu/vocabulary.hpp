// SPDX-License-Identifier: Apache-2.0
// reference/vocabulary.cpp on sixteen lanes. Include after a lanes_*.hpp.
#pragma once
#include "cpu/exponential.hpp"
#include "layout.hpp"
#include "math64.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

constexpr float kMinusInfinity = -__builtin_inff();

// Calls body(index, lanes, count) for every sixteen logits; lanes behind the last one are -inf.
template <class Body>
inline void for_each_lanes(const float* logits, std::int64_t vocab, Body body) {
  std::int64_t i = 0;
  for (; i + kLanes <= vocab; i += kLanes) body(i, load(logits + i), kLanes);
  const std::int64_t left = vocab - i;
  if (left > 0) body(i, first(load_first(logits + i, left), left, splat(kMinusInfinity)), left);
}

float largest_logit(const float* logits, std::int64_t vocab) {
  Floats best = splat(kMinusInfinity);
  for_each_lanes(logits, vocab,
                 [&](std::int64_t, Floats x, std::int64_t) { best = larger(x, best); });
  return largest(best);
}

std::int64_t argmax(const float* logits, std::int64_t vocab) {
  const Floats best = splat(largest_logit(logits, vocab));
  for (std::int64_t i = 0; i < vocab; i += kLanes) {
    const std::int64_t left = vocab - i;
    const Floats x = left < kLanes ? load_first(logits + i, left) : load(logits + i);
    unsigned found = equal_mask(x, best);
    if (left < kLanes) found &= (1u << left) - 1;
    if (found) return i + __builtin_ctz(found);
  }
  return 0;
}

// Hands each e = exp(x - best) to keep(index, lanes, count), which may store it. inverse: 1 / Z.
template <class Keep>
inline Spread exponentials(const float* logits, std::int64_t vocab, Floats* inverse, Keep keep) {
  const Floats best = splat(largest_logit(logits, vocab)), zero = splat(0);
  Doubles sums = zero_doubles(), products = zero_doubles();
  for_each_lanes(logits, vocab, [&](std::int64_t i, Floats x, std::int64_t count) {
    const Floats below = x - best, power = exponential(below);
    keep(i, power, count);
    sums = add(sums, first(power, count, zero));
    products = add(products, first(zero_below(below, splat(-87.0f), power * below), count, zero));
  });
  const double all = sum(sums), log_sum = log64(all);
  *inverse = splat(static_cast<float>(1.0 / all));
  return {static_cast<double>(largest(best)) + log_sum, log_sum - sum(products) / all};
}

Spread softmax(const float* logits, std::int64_t vocab, float* p) {
  Floats inverse;
  const Spread spread = exponentials(
      logits, vocab, &inverse,
      [p](std::int64_t i, Floats power, std::int64_t count) { store_first(p + i, power, count); });
  for_each_lanes(p, vocab, [&](std::int64_t i, Floats power, std::int64_t count) {
    store_first(p + i, power * inverse, count);
  });
  return spread;
}

Spread spread(const float* logits, std::int64_t vocab) {
  Floats inverse;
  return exponentials(logits, vocab, &inverse, [](std::int64_t, Floats, std::int64_t) {});
}

bool block_maxima(const float* logits, std::int64_t vocab, float* maxima) {
  const Floats lowest = splat(-__FLT_MAX__), zero = splat(0);
  Floats poison = zero;  // NaN once a NaN or +inf was met
  for (std::int64_t begin = 0; begin < vocab; begin += kMaximaBlock) {
    Floats best = splat(kMinusInfinity);
    const std::int64_t count = vocab - begin < kMaximaBlock ? vocab - begin : kMaximaBlock;
    for_each_lanes(logits + begin, count, [&](std::int64_t, Floats x, std::int64_t) {
      best = larger(x, best);
      poison = fma(larger(lowest, x), zero, poison);
    });
    maxima[begin / kMaximaBlock] = largest(best);
  }
  return sum(poison) == 0;
}

}  // namespace
}  // namespace redline::kernels
