// SPDX-License-Identifier: Apache-2.0
// The weights of one module, by op: matrices in the shared mapping, vectors in memory of their own.
#pragma once
#include <optional>
#include <vector>

#include "model/module_plan.hpp"
#include "model/weight_cache.hpp"

namespace redline::model {

struct OpWeights {
  kernels::PackedMatrix matrix;  // of linear and head
  std::vector<float> vector;     // of norm; of linear and head the bias, empty: none
  std::vector<Token> ids;        // of head: the token of each row, empty: its own order
};

class ModuleWeights {
 public:
  // InputError: ids that are no tokens of the target, or twice the same.
  ModuleWeights(const files::Gguf& file, const ModulePlan& plan, const LoadOptions& options,
                device::WorkerPool& pool);
  static std::int64_t bytes(const files::Gguf& file, const ModulePlan& plan);
  const OpWeights& of(std::size_t op) const { return ops_[op]; }

 private:
  std::optional<WeightCache> cache_;  // none: no op has a matrix
  std::vector<OpWeights> ops_;        // [ops]
};

}  // namespace redline::model
