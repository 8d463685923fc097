// SPDX-License-Identifier: Apache-2.0
// Multi-round rejection, root to leaf (arXiv 2305.09781, 2402.12374): test the children in order,
// each against what its elder siblings left of the target's row. With deltas it is the naive rule.
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Multiround final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::MARGINALLY_LOSSLESS, .reads = {.row = true}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    Node u = redline::kRoot;
    redline::Row left = p[u];  // what is still owed at u
    for (Node c = draft.first_child(u); c != redline::kNone;) {
      const redline::Row q = draft.q(c);
      if (draws.bernoulli(c, chance(draft, c, left, q))) {
        u = c;
        left = p[u];
        c = draft.first_child(u);
      } else {
        left = left.residual(q);
        c = draft.next_sibling(c);
      }
    }
    return {u, draws.categorical(u, left)};
  }
  double do_expected_accepted(const redline::Draft& draft,
                              std::span<const redline::Row> p) const override {
    std::vector<double> reach(p.size(), 1.0);  // the chance that a node is kept; parents come first
    double sum = 0;
    for (Node u = redline::kRoot; u <= draft.size(); ++u) {
      redline::Row left = p[u];
      double tried = reach[u];  // the chance that a child is reached and tested
      for (Node c = draft.first_child(u); c != redline::kNone; c = draft.next_sibling(c)) {
        const redline::Row q = draft.q(c);
        reach[c] = tried * chance(draft, c, left, q);
        sum += reach[c];
        tried -= reach[c];
        if (draft.next_sibling(c) != redline::kNone) left = left.residual(q);
      }
    }
    return sum;
  }
  static double chance(const redline::Draft& draft, Node c, const redline::Row& left,
                       const redline::Row& q) {
    return redline::ratio(left.at(draft.token(c)), q.at(draft.token(c)));
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Multiround>("accept_multiround", "multi-round rejection, trees"));
