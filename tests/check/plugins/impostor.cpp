// SPDX-License-Identifier: Apache-2.0
// Lossless, and less than its name: the token ratio rule as block verification.
#include "redline/plugin.hpp"

namespace {
using redline::Draft, redline::Draws, redline::Node, redline::Row, redline::Verdict;

class Impostor final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {redline::Claim::MARGINALLY_LOSSLESS, {true}, redline::Shape::CHAIN};
  }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    for (Node u = redline::kRoot; u < draft.size(); ++u) {
      const redline::Token x = draft.token(u + 1);
      const Row q = draft.q(u + 1);
      if (!draws.bernoulli(u + 1, redline::ratio(p[u].at(x), q.at(x))))
        return {u, draws.categorical(u, p[u].residual(q))};
    }
    return {draft.size(), draws.categorical(draft.size(), p.back())};
  }
};
}  // namespace

REDLINE_PLUGIN(redline::entry<Impostor>("accept_block", "is the token ratio rule"));
