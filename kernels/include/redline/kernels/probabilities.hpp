// SPDX-License-Identifier: Apache-2.0
// Passes over one distribution in float64, one table an instruction set; all give the same bits. A
// distribution is weights and the factor that makes them probabilities. Sums run over eight lanes
// in a fixed tree.
#pragma once
#include <cstdint>
#include <limits>

#include "redline/kernels/isa.hpp"

namespace redline::kernels {

template <class Weight>  // float or double
struct WeightOps {       // of weights that are not negative
  double (*sum)(const Weight* w, std::int64_t count);
  Weight (*largest)(const Weight* w, std::int64_t count);
  // out = w factor
  void (*scale)(const Weight* w, std::int64_t count, double factor, double* out);
  // rest = max(0, share (w factor) - rest); returns its sum.
  double (*clip)(const Weight* w, std::int64_t count, double factor, double share, double* rest);
};

// The noise of one draw: tokens 2 n and 2 n + 1 share the Philox block of this counter, then n.
struct Noise {
  std::uint32_t counter[3];
  std::uint64_t key;
};

// A token of probability p that drew u, the middle of one of 2^52 cells of (0, 1), arrives at
// -log(u) / p. The first of a vocabulary is drawn by its probability: argmax of log p + Gumbel
// noise.
struct Arrival {
  std::int64_t token = -1;
  double time = std::numeric_limits<double>::infinity();
};

struct ProbabilityOps {
  WeightOps<float> floats;
  WeightOps<double> doubles;
  // The first of `best` and tokens [begin, begin + count) of probabilities p; begin is even. Of
  // equal times the lowest token wins, and `best` comes before all.
  Arrival (*race)(const Noise& noise, const double* p, std::int64_t begin, std::int64_t count,
                  Arrival best);
};

const ProbabilityOps& probability_ops(Isa isa);  // throws as ops() does

}  // namespace redline::kernels
