// SPDX-License-Identifier: Apache-2.0
// Relaxed acceptance by rank and distance: a token among the target's best `top`, at most `delta`
// less probable than the best.
#include "redline/plugin.hpp"
#include "relaxed.hpp"

namespace {

class TopDelta final : public RelaxedRule {
 public:
  struct Params {
    int top = 1;
    double delta = 0;
    std::string next = "argmax";
    void visit(redline::ParameterVisitor& v) {
      v("top", top, {1, 1024}, "how many of the target's best tokens may pass");
      v("delta", delta, {0, 1}, "how much less probable than the best they may be");
      visit_next(v, next);
    }
  };
  explicit TopDelta(const Params& p) : RelaxedRule(p.next), top_(p.top), delta_(p.delta) {}

 private:
  Passes good_enough(const redline::Row& p) const override {
    const redline::List<redline::Row::Entry> best = p.top(top_);
    return [best, least = best.front().p - delta_](redline::Token x) {
      for (const auto& [token, p_of] : best)
        if (token == x) return p_of >= least;
      return false;
    };
  }
  std::size_t top_;
  double delta_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<TopDelta>("accept_top_delta",
                                        "the target's best few within a distance (lossy), trees"));
