// SPDX-License-Identifier: Apache-2.0
#include "model/module_weights.hpp"

#include <cmath>
#include <set>

#include "model/weights.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

bool has_matrix(const ModuleNode& node) {
  return node.op == Op::LINEAR || (node.op == Op::HEAD && !node.weight.empty());
}

std::vector<std::string> matrices_of(const ModulePlan& plan) {
  std::set<std::string> names;  // ops may share one
  for (const ModuleNode& node : plan.nodes)
    if (has_matrix(node)) names.insert(weight_name(node));
  return {names.begin(), names.end()};
}

// Offsets as floats: whole numbers that are exact in F32.
std::vector<Token> ids_of(const files::Gguf& file, const std::string& name, std::int32_t vocab) {
  std::vector<Token> ids;
  std::vector<bool> is_taken(vocab);
  for (const float offset : vector_of(file, name)) {
    const double id = static_cast<double>(ids.size()) + static_cast<double>(offset);
    const std::string row = file.path().string() + ": tensor " + name + ": row " +
                            std::to_string(ids.size()) + " is token " + std::to_string(id);
    if (!(id >= 0 && id < vocab) || id != std::floor(id))
      throw InputError(row + ", expected one of [0, " + std::to_string(vocab) + ")");
    ids.push_back(static_cast<Token>(id));
    if (is_taken[ids.back()]) throw InputError(row + ", as an earlier row is");
    is_taken[ids.back()] = true;
  }
  return ids;
}

}  // namespace

ModuleWeights::ModuleWeights(const files::Gguf& file, const ModulePlan& plan,
                             const LoadOptions& options, device::WorkerPool& pool) {
  if (const auto names = matrices_of(plan); !names.empty())
    cache_.emplace(file, as_stored(file, names), options.cache_folder / "weights", false, pool,
                   options.progress);
  for (const ModuleNode& node : plan.nodes) {
    OpWeights& op = ops_.emplace_back();
    if (node.op == Op::NORM) op.vector = vector_of(file, weight_name(node));
    if (!has_matrix(node)) continue;
    op.matrix = cache_->matrix(weight_name(node));
    op.vector = vector_of(file, bias_name(node));
    if (!node.ids.empty()) op.ids = ids_of(file, node.ids, plan.vocab);
  }
}

std::int64_t ModuleWeights::bytes(const files::Gguf& file, const ModulePlan& plan) {
  std::int64_t bytes = 0;
  for (const std::string& name : matrices_of(plan)) {
    const files::Tensor& tensor = file.tensor(name);
    bytes += kernels::packed_bytes(weight_type(tensor.type), tensor.rows(), tensor.cols());
  }
  return bytes;
}

}  // namespace redline::model
