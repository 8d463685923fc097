// SPDX-License-Identifier: Apache-2.0
#include "model/module_graph.hpp"

#include "files/byte_cursor.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

class Recorder final : public ModuleBuilder {
 public:
  ModuleGraph take() { return std::move(graph_); }

 private:
  Value do_op(Op op, std::span<const Value> in, std::string_view weight, int tap,
              std::string_view ids) override {
    const int index = static_cast<int>(graph_.nodes.size());
    ModuleNode node{op, {}, std::string(weight), std::string(ids), tap};
    for (const Value& value : in) {
      if (value.index < 0 || value.index >= index)
        throw InputError("module: op " + std::to_string(index) + ", " + std::string(name(op)) +
                         "(), takes value " + std::to_string(value.index) + " of another graph");
      node.inputs.push_back(value.index);
    }
    graph_.nodes.push_back(std::move(node));
    return {index};
  }
  ModuleGraph graph_;
};

template <class T>
void put(std::vector<std::byte>& out, T value) {
  for (const std::byte b : std::as_bytes(std::span(&value, 1))) out.push_back(b);
}
void put(std::vector<std::byte>& out, const std::string& text) {
  put(out, std::uint64_t{text.size()});
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

}  // namespace

std::string_view name(Op op) {
  switch (op) {
    case Op::EMBED:
      return "embed";
    case Op::HIDDEN:
      return "hidden";
    case Op::RECYCLED:
      return "recycled";
    case Op::CHOOSE:
      return "choose";
    case Op::LINEAR:
      return "linear";
    case Op::NORM:
      return "norm";
    case Op::SILU:
      return "silu";
    case Op::ADD:
      return "add";
    case Op::MULTIPLY:
      return "multiply";
    case Op::CONCAT:
      return "concat";
    case Op::ATTENTION:
      return "attention";
    case Op::FEATURE:
      return "feature";
    case Op::HEAD:
      return "head";
    case Op::BLOCK:
      return "block";
  }
  throw InputError("module: op " + std::to_string(static_cast<unsigned>(op)) + " is unknown");
}

ModuleGraph record_graph(void (*build)(ModuleBuilder&)) {
  Recorder recorder;
  build(recorder);
  return recorder.take();
}

std::vector<std::byte> to_bytes(const ModuleGraph& graph) {
  std::vector<std::byte> out;
  put(out, std::uint64_t{graph.nodes.size()});
  for (const ModuleNode& node : graph.nodes) {
    put(out, node.op);
    put(out, node.tap);
    put(out, node.weight);
    put(out, node.ids);
    put(out, std::uint64_t{node.inputs.size()});
    for (const std::int32_t input : node.inputs) put(out, input);
  }
  return out;
}

ModuleGraph graph_of_bytes(std::span<const std::byte> bytes) {
  files::ByteCursor cursor(bytes, "module graph");
  const auto count = cursor.read<std::uint64_t>("ops");
  cursor.expect(count, 1, "ops");
  ModuleGraph graph;
  for (std::uint64_t i = 0; i < count; ++i) {
    ModuleNode node;
    node.op = cursor.read<Op>("op");
    node.tap = cursor.read<std::int32_t>("tap");
    node.weight = cursor.read_text("weight");
    node.ids = cursor.read_text("ids");
    const auto inputs = cursor.read<std::uint64_t>("inputs");
    cursor.expect(inputs, sizeof(std::int32_t), "inputs");
    for (std::uint64_t k = 0; k < inputs; ++k)
      node.inputs.push_back(cursor.read<std::int32_t>("input"));
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

}  // namespace redline::model
