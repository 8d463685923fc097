// SPDX-License-Identifier: Apache-2.0
// Rules wrong on purpose in ways that were met: each a small edit of a shipped one.
#include <algorithm>

#include "redline/plugin.hpp"

namespace {
using redline::Draft, redline::Draws, redline::Node, redline::Row, redline::Verdict, redline::kRoot,
    redline::kNone, redline::Token;

constexpr redline::RuleContract kContract{.claim = redline::Claim::MARGINALLY_LOSSLESS,
                                          .reads = {.row = true}};

// Traversal with the weight of a public port: what is left over what the draft has left.
class Traversal final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override { return kContract; }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    std::vector<Row> left(p.begin(), p.end());
    std::vector<double> a(p.size(), 1.0), draft_left(p.size(), 1.0);
    std::vector<Node> first;
    for (Node u = kRoot; u <= draft.size(); ++u) first.push_back(draft.first_child(u));
    const auto deepest = [&](Node u) {
      for (Node c; (c = first[u]) != kNone; u = c)
        a[c] = redline::ratio(a[u] * left[u].at(draft.token(c)), draft.q(c).at(draft.token(c)));
      return u;
    };
    Node v = deepest(kRoot);
    while (v != kRoot && !draws.bernoulli(v, a[v])) {
      const Node u = draft.parent(v);
      const Row q = draft.q(v);
      draft_left[u] -= q.at(draft.token(v));
      const double s = left[u].mass(q, a[u]);
      left[u] = left[u].residual(q, a[u]);
      a[u] = redline::ratio(s, draft_left[u]);
      first[u] = draft.next_sibling(v);
      v = deepest(u);
    }
    return {v, draws.categorical(v, left[v])};
  }
};

// k-SEQ's slack at its worst, rho = k, with what the token ratio rule would owe.
class Kseq final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override { return kContract; }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    Node u = kRoot;
    for (Node c = draft.first_child(u); c != kNone;) {
      int k = 0;
      for (Node s = draft.first_child(u); s != kNone; s = draft.next_sibling(s)) ++k;
      const Token x = draft.token(c);
      const bool is_kept = draws.bernoulli(c, redline::ratio(p[u].at(x), k * draft.q(c).at(x)));
      const Node last = c;
      c = is_kept ? draft.first_child(u = c) : draft.next_sibling(c);
      if (!is_kept && c == kNone) return {u, draws.categorical(u, p[u].residual(draft.q(last)))};
    }
    return {u, draws.categorical(u, p[u])};
  }
};

// The best of the siblings by p/q, verified as if it had been the only one drawn.
class Selected final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override { return kContract; }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    for (Node u = kRoot;;) {
      Node best = draft.first_child(u);
      if (best == kNone) return {u, draws.categorical(u, p[u])};
      const Row q = draft.q(best);
      const auto gain = [&](Node c) { return p[u].at(draft.token(c)) / q.at(draft.token(c)); };
      for (Node c = best; c != kNone; c = draft.next_sibling(c))
        if (gain(c) > gain(best)) best = c;
      if (!draws.bernoulli(best, std::min(1.0, gain(best))))
        return {u, draws.categorical(u, p[u].residual(q))};
      u = best;
    }
  }
};

// Multi-round rejection of siblings that were put into another order by q.
class ReorderedByQ final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override { return kContract; }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    Node u = kRoot;
    for (Node kept = kRoot; kept != kNone;) {
      u = kept;
      kept = kNone;
      Row left = p[u];
      for (const Node c : by_falling_q(draft, u)) {
        const Token x = draft.token(c);
        if (draws.bernoulli(c, redline::ratio(left.at(x), draft.q(c).at(x)))) {
          kept = c;
          break;
        }
        left = left.residual(draft.q(c));
      }
      if (kept == kNone) return {u, draws.categorical(u, left)};
    }
    return {u, draws.categorical(u, p[u])};
  }
  static std::vector<Node> by_falling_q(const Draft& draft, Node u) {
    std::vector<Node> children;
    for (Node c = draft.first_child(u); c != kNone; c = draft.next_sibling(c))
      children.push_back(c);
    const auto q = [&](Node c) { return draft.q(c).at(draft.token(c)); };
    std::stable_sort(children.begin(), children.end(), [&](Node a, Node b) { return q(a) > q(b); });
    return children;
  }
};
}  // namespace

REDLINE_PLUGIN(redline::entry<ReorderedByQ>("n8_by_q", "siblings re-ordered by q"),
               redline::entry<Traversal>("wrong_traversal", "a port's weight after a refusal"),
               redline::entry<Kseq>("wrong_kseq", "the ratio rule's residual after k-SEQ's tests"),
               redline::entry<Selected>("wrong_selection", "the best sibling as the only one"));
