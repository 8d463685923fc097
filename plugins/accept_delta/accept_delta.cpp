// SPDX-License-Identifier: Apache-2.0
// Every draft taken as given (the naive rule): keep a child with the target's own probability of
// its token, then take that token off the target's row and try the next. Needs no q, wherever the
// draft came from.
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Delta final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::CONDITIONALLY_LOSSLESS, .reads = {}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    Node u = redline::kRoot;
    redline::Row left = p[u];  // the target's law of the next token, given what was refused
    for (Node c = draft.first_child(u); c != redline::kNone;) {
      const redline::Token x = draft.token(c);
      if (draws.bernoulli(c, redline::ratio(left.at(x), 1))) {
        u = c;
        left = p[u];
        c = draft.first_child(u);
      } else {
        left = left.residual(redline::Row::point(left.vocab(), x));
        c = draft.next_sibling(c);
      }
    }
    return {u, draws.categorical(u, left)};
  }
  double do_expected_accepted(const redline::Draft& draft,
                              std::span<const redline::Row> p) const override {
    return redline::path_mass(draft, p);
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Delta>("accept_delta", "drafts as given, whatever their origin"));
