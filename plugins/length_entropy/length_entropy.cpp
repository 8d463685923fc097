// SPDX-License-Identifier: Apache-2.0
// Drafts on while the entropy of the draft's next row promises acceptance: by Pinsker's inequality
// 1 - sqrt(g H) bounds it where the divergence to the target is like g H (arXiv 2410.18351).
#include <cmath>

#include "redline/plugin.hpp"

namespace {

class EntropyStop final : public redline::DraftLength {
 public:
  struct Params {
    int max_depth = 8, max_nodes = 0;
    double g = .2, threshold = .4;
    void visit(redline::ParameterVisitor& v) {
      v("max_depth", max_depth, {0, 64}, "longest path, in tokens; 0 drafts nothing");
      v("max_nodes", max_nodes, {0, 1024}, "tokens of a draft in all; 0: as many as max_depth");
      v("g", g, {0, 100}, "weight of the entropy, in 1/nats");
      v("threshold", threshold, {0, 1}, "least 1 - sqrt(g entropy) to go on");
    }
  };
  explicit EntropyStop(const Params& p)
      : budget_{p.max_nodes > 0 ? p.max_nodes : p.max_depth, p.max_depth},
        g_(p.g),
        threshold_(p.threshold) {}

 private:
  void do_choose(std::span<const redline::Turn>, std::span<redline::Budget> budgets) override {
    std::fill(budgets.begin(), budgets.end(), budget_);
  }
  bool do_proceed(redline::Turn, int /*depth*/, const redline::Row& q_next) const override {
    return 1 - std::sqrt(g_ * q_next.entropy()) >= threshold_;
  }
  redline::Budget budget_;
  double g_, threshold_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<EntropyStop>("length_entropy",
                                           "drafts while the draft's row is of low entropy"));
