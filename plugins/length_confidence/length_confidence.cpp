// SPDX-License-Identifier: Apache-2.0
// Drafts on while the draft is sure of its next token, judged by its row before the token is drawn.
#include "redline/plugin.hpp"

namespace {

class Confidence final : public redline::DraftLength {
 public:
  struct Params {
    int max_depth = 8, max_nodes = 0;
    double p_min = .4;
    void visit(redline::ParameterVisitor& v) {
      v("max_depth", max_depth, {0, 64}, "longest path, in tokens; 0 drafts nothing");
      v("max_nodes", max_nodes, {0, 1024}, "tokens of a draft in all; 0: as many as max_depth");
      v("p_min", p_min, {0, 1}, "least probability of the draft's best token to go on");
    }
  };
  explicit Confidence(const Params& p)
      : budget_{p.max_nodes > 0 ? p.max_nodes : p.max_depth, p.max_depth}, p_min_(p.p_min) {}

 private:
  void do_choose(std::span<const redline::Turn>, std::span<redline::Budget> budgets) override {
    std::fill(budgets.begin(), budgets.end(), budget_);
  }
  bool do_proceed(redline::Turn, int /*depth*/, const redline::Row& q_next) const override {
    return q_next.top(1).front().p >= p_min_;
  }
  redline::Budget budget_;
  double p_min_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Confidence>("length_confidence",
                                          "drafts while the draft's best token is likely"));
