// SPDX-License-Identifier: Apache-2.0
// Draw what plain decoding would draw; keep the draft while it agrees. At temperature 0 this is
// greedy match.
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Match final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::CONDITIONALLY_LOSSLESS, .reads = {}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    for (Node u = redline::kRoot;;) {
      const redline::Token y = draws.sample(u, p[u]);
      const Node c = draft.child(u, y);
      if (c == redline::kNone) return {u, y};
      u = c;
    }
  }
  double do_expected_accepted(const redline::Draft& draft,
                              std::span<const redline::Row> p) const override {
    return redline::path_mass(draft, p);
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Match>("accept_match",
                                     "keeps what the target draws itself: plain decoding's text"));
