// SPDX-License-Identifier: Apache-2.0
// A module's graph held against its weights file and its target: the width of every value, what
// the module keeps in pages, how its rows are to be fed. Reads the file's header only.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "files/gguf.hpp"
#include "model/architecture.hpp"
#include "model/forward.hpp"
#include "model/module_graph.hpp"

namespace redline::model {

struct ModulePlan {
  std::vector<ModuleNode> nodes;
  std::vector<std::int64_t> widths;    // [nodes] of its value; 0: it has none
  std::vector<std::int32_t> ordinals;  // [nodes] among its kind: of ATTENTION the layer, of HEAD
  std::int32_t heads = 0, kv_heads = 0, head_size = 0;  // of attention; 0: there is none
  std::int32_t layers = 0;                              // of attention
  std::int32_t feature = 0;                             // floats kept of a row; 0: none
  std::int32_t vocab = 0;                               // of the target
  std::int64_t mapped = 0;                              // most rows of a head with ids
  float epsilon = 0;                                    // of the norms
  double rope_base = 0;
  Feeding feeding;

  kv::KvShape kv() const { return {layers, kv_heads, head_size, feature}; }
};
// taps: how many the drafter declares. InputError, naming op and tensor: a missing tensor, shapes
// that do not chain, values that no row could have.
ModulePlan module_plan(const files::Gguf& file, const ModuleGraph& graph,
                       const Architecture& target, std::int32_t taps);

// Tensors of an op of this weight.
inline std::string weight_name(const ModuleNode& node) { return node.weight + ".weight"; }
inline std::string bias_name(const ModuleNode& node) { return node.weight + ".bias"; }

}  // namespace redline::model
