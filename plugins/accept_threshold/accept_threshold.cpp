// SPDX-License-Identifier: Apache-2.0
// The naive rule with two thresholds: a child the target likes well enough passes untested, and the
// target's probability of the children counts for more than it is.
#include "redline/plugin.hpp"

namespace {

using redline::Node, redline::Row;

class Threshold final : public redline::AcceptanceRule {
 public:
  struct Params {
    double single = 1, total = 1;
    void visit(redline::ParameterVisitor& v) {
      v("single", single, {0, 1}, "a child at least so probable passes; 1 is exact");
      v("total", total, {.01, 1}, "the children's probabilities are divided by it; 1 is exact");
    }
  };
  explicit Threshold(const Params& p) : params_(p) {}

 private:
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::APPROXIMATE, .reads = {}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const Row> p,
                            redline::Draws& draws) const override {
    Node u = redline::kRoot;
    Row rest = p[u];    // p off the children that failed
    double failed = 1;  // the chance that they did
    for (Node c = draft.first_child(u); c != redline::kNone;) {
      const redline::Token x = draft.token(c);
      const double liked = rest.at(x) > 0 ? p[u].at(x) : 0;  // a twin of one that failed fails
      const double chance = redline::ratio(liked / params_.total, failed);
      if (draws.bernoulli(c, liked >= params_.single ? 1 : chance)) {
        u = c;
        rest = p[u];
        failed = 1;
        c = draft.first_child(u);
      } else {
        rest = rest.residual(Row::point(rest.vocab(), x));
        failed -= liked / params_.total;
        c = draft.next_sibling(c);
      }
    }
    return {u, draws.categorical(u, rest)};
  }
  Params params_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Threshold>("accept_threshold",
                                         "the naive rule with thresholds (lossy), trees"));
