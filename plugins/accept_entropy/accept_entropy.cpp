// SPDX-License-Identifier: Apache-2.0
// Multi-round rejection that lets a token pass untested where the target itself gives it enough:
// more than `threshold`, or than `alpha` exp(-entropy) where the target is uncertain.
#include "entropy_bar.hpp"
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Entropy final : public redline::AcceptanceRule {
 public:
  struct Params {
    double threshold = .95, alpha = .4;
    void visit(redline::ParameterVisitor& v) {
      v("threshold", threshold, {0, 1}, "a probability above this always passes");
      v("alpha", alpha, {0, 1},
        "share of exp(-entropy) that passes; 0 keeps all the target can emit");
    }
  };
  explicit Entropy(const Params& p) : params_(p) {}

 private:
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::APPROXIMATE, .reads = {.row = true}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    Node u = redline::kRoot;
    redline::Row left = p[u];  // what is still owed at u
    EntropyBar bar = bar_of(p[u]);
    for (Node c = draft.first_child(u); c != redline::kNone;) {
      const redline::Row q = draft.q(c);
      const redline::Token x = draft.token(c);
      const double tested = redline::ratio(left.at(x), q.at(x));
      if (draws.bernoulli(c, tested < 1 && bar.clears(x) ? 1 : tested)) {
        u = c;
        left = p[u];
        bar = bar_of(p[u]);
        c = draft.first_child(u);
      } else {
        left = left.residual(q);
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
    EntropyBar bar = bar_of(p[u]);
    for (Node c = draft.first_child(u); c != redline::kNone; c = draft.next_sibling(c)) {
      const redline::Row q = draft.q(c);
      out.keep(q, [&](redline::Token x, double q_x) {
        const double tested = redline::ratio(left.at(x), q_x);
        return tested < 1 && bar.clears(x) ? 1 : tested;
      });
      left = left.residual(q);
    }
    out.end(left);
    return out.tv(p[u]);
  }
  EntropyBar bar_of(const redline::Row& p) const { return {p, params_.threshold, params_.alpha}; }
  Params params_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Entropy>("accept_entropy",
                                       "multi-round rejection, relaxed by entropy (lossy), trees"));
