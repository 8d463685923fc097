// SPDX-License-Identifier: Apache-2.0
// The naive rule with two thresholds: a child the target likes well enough passes untested, and the
// target's probability of the children counts for more than it is.
#include <cmath>

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
      if (draws.bernoulli(c, chance(liked, failed))) {
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
  double do_tv(const redline::Draft& draft, Node u, std::span<const Row> p) const override {
    const Node only = draft.first_child(u);
    if (only != redline::kNone && draft.next_sibling(only) == redline::kNone)
      return tv_of_one(draft.q(only), p[u]);
    redline::Emission out(p[u].vocab());
    Row rest = p[u];
    double failed = 1;
    for (Node c = only; c != redline::kNone; c = draft.next_sibling(c)) {
      if (draft.item(c).law == redline::Law::ROW)  // what a token leaves hangs on the token
        return std::numeric_limits<double>::quiet_NaN();
      const redline::Token x = draft.token(c);
      const double liked = rest.at(x) > 0 ? p[u].at(x) : 0;
      out.keep(x, chance(liked, failed));
      rest = rest.residual(Row::point(rest.vocab(), x));
      failed -= liked / params_.total;
    }
    out.end(rest);
    return out.tv(p[u]);
  }
  // A token x drawn from q that fails leaves p off x: every y but x gets p(y) / (1 - p(x)) of it.
  double tv_of_one(const Row& q, const Row& p) const {
    const auto left_by = [&](redline::Token x, double q_x) {
      const double p_x = p.at(x), kept = chance(p_x, 1);
      return kept < 1 ? q_x * (1 - kept) / (1 - p_x) : 0;
    };
    redline::List<double> of_p(p.vocab()), of_q(p.vocab());
    p.read(0, of_p);
    q.read(0, of_q);
    double all = 0;
    for (redline::Token x = 0; x < p.vocab(); ++x) all += left_by(x, of_q[x]);
    double sum = 0;
    for (redline::Token y = 0; y < p.vocab(); ++y)
      sum +=
          std::abs(of_q[y] * chance(of_p[y], 1) + of_p[y] * (all - left_by(y, of_q[y])) - of_p[y]);
    return sum / 2;
  }
  double chance(double liked, double failed) const {
    return liked >= params_.single ? 1 : redline::ratio(liked / params_.total, failed);
  }
  Params params_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Threshold>("accept_threshold",
                                         "the naive rule with thresholds (lossy), trees"));
