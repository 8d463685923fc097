// SPDX-License-Identifier: Apache-2.0
#include "check/scripted_head.hpp"

#include <algorithm>

namespace redline::check {
namespace {

Row turned(const Row& row, int by) {
  if (by == 0) return row;
  std::vector<float> p = row.to_dense();
  std::ranges::rotate(p, p.end() - by % row.vocab());
  return Row::dense(p);
}

}  // namespace

ScriptedHead::ScriptedHead(model::ModuleGraph graph, Model& rows)
    : graph_(std::move(graph)), rows_(rows) {
  for (const model::ModuleNode& node : graph_.nodes) {
    if (node.op == Op::HEAD) ++heads_;
    if (node.op == Op::HIDDEN) taps_ = std::max(taps_, node.tap + 1);
  }
  if (heads_ == 0) throw Error("module: the graph has no head(), so that it answers nothing");
  // Nodes have no hidden(): a graph that puts nothing in its place answers at the root alone.
  is_root_only_ = taps_ > 0 && !has(Op::CHOOSE) && !has(Op::BLOCK);
}

bool ScriptedHead::has(Op op) const {
  return std::ranges::any_of(graph_.nodes, [op](const auto& node) { return node.op == op; });
}

List<Row> ScriptedHead::do_forward(std::span<const Ask> asks) {
  for (const Ask& ask : asks)
    if (is_root_only_ && ask.node != kRoot)
      throw Error("module: a node below the root; what this head needs is known at the root only");
  List<Row> out;
  for (const Row& row : rows_.forward(asks))
    for (int head = 0; head < heads_; ++head) out.push_back(turned(row, head));
  return out;
}

}  // namespace redline::check
