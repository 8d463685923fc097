// SPDX-License-Identifier: Apache-2.0
// A learned head's graph as data: recorded from a plugin's build function on rank 0, sent to the
// other ranks, which load no plugin.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redline/module.hpp"

namespace redline::model {

struct ModuleNode {
  Op op;
  std::vector<std::int32_t> inputs;  // earlier nodes
  std::string weight, ids;           // as ModuleBuilder takes them
  std::int32_t tap = 0;
  bool operator==(const ModuleNode&) const = default;
};

struct ModuleGraph {
  std::vector<ModuleNode> nodes;
  bool operator==(const ModuleGraph&) const = default;
};

std::string_view name(Op op);  // of the builder's function
ModuleGraph record_graph(void (*build)(ModuleBuilder&));

std::vector<std::byte> to_bytes(const ModuleGraph& graph);
ModuleGraph graph_of_bytes(std::span<const std::byte> bytes);  // InputError: not of to_bytes

}  // namespace redline::model
