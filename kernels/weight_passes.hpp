// SPDX-License-Identifier: Apache-2.0
// The loops of WeightOps, compiled for each instruction set: independent lanes, so vectorising them
// moves no bit. File local, see layout.hpp.
#pragma once
#include "redline/kernels/probabilities.hpp"

namespace redline::kernels {
namespace {

template <class Term>
double sum_in_eight(std::int64_t count, Term term) {
  constexpr std::int64_t kEight = 8;
  double lane[kEight] = {};
  std::int64_t i = 0;
  for (; i + kEight <= count; i += kEight)
    for (std::int64_t j = 0; j < kEight; ++j) lane[j] += term(i + j);
  for (; i < count; ++i) lane[i % kEight] += term(i);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

template <class Weight>
double sum_weights(const Weight* w, std::int64_t count) {
  return sum_in_eight(count, [=](std::int64_t i) { return static_cast<double>(w[i]); });
}

template <class Weight>
Weight largest_weight(const Weight* w, std::int64_t count) {
  constexpr std::int64_t kMany = 32;  // several registers: one would wait for itself
  Weight lane[kMany] = {};
  std::int64_t i = 0;
  for (; i + kMany <= count; i += kMany)
    for (std::int64_t j = 0; j < kMany; ++j) lane[j] = w[i + j] > lane[j] ? w[i + j] : lane[j];
  for (; i < count; ++i) lane[0] = w[i] > lane[0] ? w[i] : lane[0];
  Weight most = 0;
  for (const Weight x : lane) most = x > most ? x : most;
  return most;
}

template <class Weight>
void scale_weights(const Weight* w, std::int64_t count, double factor, double* out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<double>(w[i]) * factor;
}

template <class Weight>
double clip_weights(const Weight* w, std::int64_t count, double factor, double share,
                    double* rest) {
  return sum_in_eight(count, [=](std::int64_t i) {
    const double left = share * (static_cast<double>(w[i]) * factor) - rest[i];
    return rest[i] = left > 0 ? left : 0;
  });
}

void install_weight_passes(ProbabilityOps& ops) {
  ops.floats = {sum_weights<float>, largest_weight<float>, scale_weights<float>,
                clip_weights<float>};
  ops.doubles = {sum_weights<double>, largest_weight<double>, scale_weights<double>,
                 clip_weights<double>};
}

}  // namespace
}  // namespace redline::kernels
