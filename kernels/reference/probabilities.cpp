// SPDX-License-Identifier: Apache-2.0
// A token can only come before `best` with -log(u) < p best, so its logarithm is taken only where
// 1 - u < p best, which -log(u) >= 1 - u makes necessary.
#include "families.hpp"
#include "math64.hpp"
#include "redline/kernels/philox.hpp"
#include "weight_passes.hpp"

namespace redline::kernels {
namespace {

double open_uniform(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t cell = (std::uint64_t{high} << 32 | low) >> 12;
  return (static_cast<double>(cell) + 0.5) * 0x1p-52;
}

void enter(std::int64_t token, double p, double u, Arrival& best) {
  if (!(1 - u < p * best.time)) return;  // nor where p is 0
  const double time = -log64(u) / p;
  if (time < best.time) best = {token, time};
}

Arrival race(const Noise& noise, const double* p, std::int64_t begin, std::int64_t count,
             Arrival best) {
  for (std::int64_t i = 0; i < count; i += 2) {
    const auto lane = static_cast<std::uint32_t>((begin + i) / 2);
    const PhiloxBlock b =
        philox4x32({noise.counter[0], noise.counter[1], noise.counter[2], lane}, noise.key);
    enter(begin + i, p[i], open_uniform(b[0], b[1]), best);
    if (i + 1 < count) enter(begin + i + 1, p[i + 1], open_uniform(b[2], b[3]), best);
  }
  return best;
}

}  // namespace

void install_reference_probabilities(ProbabilityOps& ops) {
  install_weight_passes(ops);
  ops.race = race;
}

}  // namespace redline::kernels
