// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/probabilities.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "families.hpp"

namespace redline::kernels {
namespace {

// One a set, made when it is asked for: the code that fills it is of that set too.
template <void (*kInstall)(ProbabilityOps&)>
const ProbabilityOps& table() {
  static const ProbabilityOps made = [] {
    ProbabilityOps ops{};
    kInstall(ops);
    return ops;
  }();
  return made;
}

}  // namespace

const ProbabilityOps& probability_ops(Isa isa) {
  const std::vector<Isa> have = supported();
  if (std::find(have.begin(), have.end(), isa) == have.end())
    throw std::invalid_argument("this machine has no " + std::string(name(isa)));
  if (isa == Isa::PORTABLE) return table<install_reference_probabilities>();
  return isa == Isa::AVX512_VNNI ? table<install_avx512_probabilities>()
                                 : table<install_avx2_probabilities>();
}

}  // namespace redline::kernels
