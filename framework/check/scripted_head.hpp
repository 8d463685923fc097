// SPDX-License-Identifier: Apache-2.0
// Stands in for a learned head that a drafter opens: its graph is recorded and read, its rows come
// from a scripted model. What a drafter does with rows is under check so; weights are not.
#pragma once
#include <optional>

#include "model/module_graph.hpp"
#include "redline/model.hpp"

namespace redline::check {

class ScriptedHead final : public Model {
 public:
  // rows: of the node asked about. Error: the graph has no head().
  ScriptedHead(model::ModuleGraph graph, Model& rows);

  int heads() const { return heads_; }
  int taps() const { return taps_; }  // how many its hidden() calls suppose
  // How many its drafter declares; the first word holds, for a drafter may open another one.
  void bind(std::size_t declared) { declared_ = declared_.value_or(static_cast<int>(declared)); }
  std::optional<int> declared() const { return declared_; }
  std::size_t ops() const { return graph_.nodes.size(); }

 private:
  // The first head's rows are the scripted model's, each other's the same turned by one token more.
  List<Row> do_forward(std::span<const Ask> asks) override;
  bool has(Op op) const;
  model::ModuleGraph graph_;
  Model& rows_;
  int heads_ = 0, taps_ = 0;
  std::optional<int> declared_;
  bool is_root_only_;
};

}  // namespace redline::check
