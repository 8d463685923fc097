// SPDX-License-Identifier: Apache-2.0
// k-SEQ of SpecTr (arXiv 2310.15141): k i.i.d. siblings share one slack rho; each passes with
// min(1, p / (rho q)), and what is owed after all failed is the residual at rho.
#include <cmath>

#include "redline/plugin.hpp"

namespace {

using redline::Node, redline::Row;

// w = 1 / rho of k siblings drawn from q: the most with w (1 + r + .. + r^(k-1)) <= 1, where r is
// the chance that one fails at w. There, and only there, norm(w p - q)+ is what is owed, so w is
// found to 1e-12, by bisection that guesses along the secant (Illinois).
double inverse_slack(const Row& p, const Row& q, int k) {
  if (k == 1) return 1;  // the token ratio rule
  const auto excess = [&](double w) {
    const double fails = 1 - (w - p.mass(q, w));
    double sum = 0;
    for (int j = 0; j < k; ++j) sum = sum * fails + 1;
    return w * sum - 1;
  };
  double low = 1.0 / k, high = 1, under = excess(low), over = excess(high);
  if (over <= 0) return high;
  for (int side = 0, pass = 0; pass < 60; ++pass) {
    const double w = (low * over - high * under) / (over - under), now = excess(w);
    if (std::abs(now) <= 1e-12) return w;
    if (now < 0) {
      low = w, under = now;
      if (side < 0) over /= 2;
      side = -1;
    } else {
      high = w, over = now;
      if (side > 0) under /= 2;
      side = 1;
    }
  }
  return low;
}

struct Group {  // siblings of one row, i.i.d.; another kind of sibling stands alone
  redline::List<Node> nodes;
  Node next;  // the sibling after them, or kNone
};

Group group(const redline::Draft& draft, Node c) {
  const redline::Draft::Item& first = draft.item(c);
  const bool is_iid = first.law == redline::Law::ROW && first.flags == redline::NO_FLAG;
  Group out{{c}, draft.next_sibling(c)};
  while (is_iid && out.next != redline::kNone) {
    const redline::Draft::Item& item = draft.item(out.next);
    if (item.law != first.law || item.flags != first.flags || !item.row->same_as(*first.row)) break;
    out.nodes.push_back(out.next);
    out.next = draft.next_sibling(out.next);
  }
  return out;
}

class Kseq final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::MARGINALLY_LOSSLESS, .reads = {.row = true}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const Row> p,
                            redline::Draws& draws) const override {
    Node u = redline::kRoot;
    Row left = p[u];  // what is still owed at u
    for (Node c = draft.first_child(u); c != redline::kNone;) {
      const auto [nodes, next] = group(draft, c);
      const Row q = draft.q(c);
      const double w = inverse_slack(left, q, static_cast<int>(nodes.size()));
      const auto kept = std::find_if(nodes.begin(), nodes.end(), [&](Node n) {
        const redline::Token x = draft.token(n);
        return draws.bernoulli(n, redline::ratio(w * left.at(x), q.at(x)));
      });
      if (kept != nodes.end()) u = *kept;
      left = kept != nodes.end() ? p[u] : left.residual(q, w);
      c = kept != nodes.end() ? draft.first_child(u) : next;
    }
    return {u, draws.categorical(u, left)};
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Kseq>("accept_kseq", "k-SEQ for i.i.d. siblings, trees"));
