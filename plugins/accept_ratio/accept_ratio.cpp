// SPDX-License-Identifier: Apache-2.0
// The token ratio rule for chains (arXiv 2211.17192, 2302.01318): keep x with probability
// min(1, p(x) / q(x)); after the first miss draw from what q left of p.
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Ratio final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::MARGINALLY_LOSSLESS,
            .reads = {.row = true},
            .shape = redline::Shape::CHAIN};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    for (Node u = redline::kRoot; u < draft.size(); ++u)
      if (!draws.bernoulli(u + 1, chance(draft, u + 1, p)))
        return {u, draws.categorical(u, p[u].residual(draft.q(u + 1)))};
    return {draft.size(), draws.categorical(draft.size(), p.back())};
  }
  double do_expected_accepted(const redline::Draft& draft,
                              std::span<const redline::Row> p) const override {
    double reach = 1, sum = 0;
    for (Node n = 1; n <= draft.size(); ++n) sum += reach *= chance(draft, n, p);
    return sum;
  }
  static double chance(const redline::Draft& draft, Node n, std::span<const redline::Row> p) {
    const redline::Token x = draft.token(n);
    return redline::ratio(p[n - 1].at(x), draft.q(n).at(x));
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Ratio>("accept_ratio", "token ratio rule, chains"));
