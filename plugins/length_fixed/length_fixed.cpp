// SPDX-License-Identifier: Apache-2.0
// The same budget every step.
#include "redline/plugin.hpp"

namespace {

class LengthFixed final : public redline::DraftLength {
 public:
  struct Params {
    int max_depth = 4, max_nodes = 0;
    void visit(redline::ParameterVisitor& v) {
      v("max_depth", max_depth, {0, 64}, "longest path, in tokens; 0 drafts nothing");
      v("max_nodes", max_nodes, {0, 1024}, "tokens of a draft in all; 0: as many as max_depth");
    }
  };
  explicit LengthFixed(const Params& p)
      : budget_{p.max_nodes > 0 ? p.max_nodes : p.max_depth, p.max_depth} {}

 private:
  void do_choose(std::span<const redline::Turn>, std::span<redline::Budget> budgets) override {
    std::fill(budgets.begin(), budgets.end(), budget_);
  }
  redline::Budget budget_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<LengthFixed>("length_fixed", "the same budget every step"));
