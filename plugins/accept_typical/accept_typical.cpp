// SPDX-License-Identifier: Apache-2.0
// Typical acceptance (Medusa, arXiv 2401.10774): the less certain the target, the less a drafted
// token needs.
#include "entropy_bar.hpp"
#include "redline/plugin.hpp"
#include "relaxed.hpp"

namespace {

class Typical final : public RelaxedRule {
 public:
  struct Params {
    double epsilon = .09, delta = .3;
    std::string next = "argmax";
    void visit(redline::ParameterVisitor& v) {
      v("epsilon", epsilon, {0, 1}, "a probability above this is always enough");
      v("delta", delta, {0, 1}, "share of exp(-entropy) that is enough");
      visit_next(v, next);
    }
  };
  explicit Typical(const Params& p) : RelaxedRule(p.next), epsilon_(p.epsilon), delta_(p.delta) {}

 private:
  Passes good_enough(const redline::Row& p) const override {
    return
        [bar = EntropyBar(p, epsilon_, delta_)](redline::Token x) mutable { return bar.clears(x); };
  }
  double epsilon_, delta_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Typical>("accept_typical", "typical acceptance (lossy), trees"));
