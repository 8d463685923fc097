// SPDX-License-Identifier: Apache-2.0
// The target token is argmax of log p + the Gumbel noise of its position (arXiv 2408.07978). A
// coupled drafter saw the same noise, so it agrees more often; the text is the same for any
// drafter.
#include <limits>

#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Gumbel final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::CONDITIONALLY_LOSSLESS, .reads = {.coupled = true}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    for (Node u = redline::kRoot;;) {
      const redline::Token y = draws.gumbel_argmax(u, p[u]);
      const Node c = draft.child(u, y);
      if (c == redline::kNone) return {u, y};
      u = c;
    }
  }
  double do_expected_accepted(const redline::Draft& draft,
                              std::span<const redline::Row> p) const override {
    for (Node n = 1; n <= draft.size(); ++n)  // a coupled token tells of the noise: not p(path)
      if (draft.item(n).law == redline::Law::COUPLED)
        return std::numeric_limits<double>::quiet_NaN();
    return redline::path_mass(draft, p);
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Gumbel>("accept_gumbel",
                                      "shared Gumbel noise: one text for every drafter"));
