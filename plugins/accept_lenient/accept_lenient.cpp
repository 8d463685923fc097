// SPDX-License-Identifier: Apache-2.0
// Multi-round rejection with lenience (arXiv 2211.17192, appendix A.5): q counts for l of itself.
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Lenient final : public redline::AcceptanceRule {
 public:
  struct Params {
    double l = .5;
    void visit(redline::ParameterVisitor& v) {
      v("l", l, {.01, 1}, "lenience: 1 is exact, less keeps more");
    }
  };
  explicit Lenient(const Params& p) : l_(p.l) {}

 private:
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::APPROXIMATE, .reads = {.row = true}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    Node u = redline::kRoot;
    redline::Row left = p[u];  // what is still owed at u
    for (Node c = draft.first_child(u); c != redline::kNone;) {
      const redline::Row q = draft.q(c);
      const redline::Token x = draft.token(c);
      if (draws.bernoulli(c, redline::ratio(left.at(x), l_ * q.at(x)))) {
        u = c;
        left = p[u];
        c = draft.first_child(u);
      } else {
        left = left.residual(q, 1 / l_);
        c = draft.next_sibling(c);
      }
    }
    return {u, draws.categorical(u, left)};
  }
  double do_tv(const redline::Draft& draft, Node u,
               std::span<const redline::Row> p) const override {
    if (!redline::has_fixed_laws(draft, u)) return std::numeric_limits<double>::quiet_NaN();
    redline::Emission out(p[u].vocab());
    redline::Row left = p[u];
    for (Node c = draft.first_child(u); c != redline::kNone; c = draft.next_sibling(c)) {
      const redline::Row q = draft.q(c);
      out.keep(q,
               [&](redline::Token x, double q_x) { return redline::ratio(left.at(x), l_ * q_x); });
      left = left.residual(q, 1 / l_);
    }
    out.end(left);
    return out.tv(p[u]);
  }
  double l_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Lenient>("accept_lenient",
                                       "multi-round rejection with lenience (lossy), trees"));
