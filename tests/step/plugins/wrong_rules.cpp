// SPDX-License-Identifier: Apache-2.0
// Rules wrong on purpose, each the smallest edit of a right one. The proofs must flag every one.
#include "redline/plugin.hpp"

namespace {
using redline::Draft, redline::Draws, redline::Node, redline::Row, redline::Token, redline::Verdict,
    redline::kRoot, redline::kNone;

enum class Bug { NONE, N1, N2, N5, N8, N9, SAMPLE_RESIDUAL, DRAW_TWICE };

template <Bug kBug>
class Multiround final : public redline::AcceptanceRule {  // multi-round rejection, root to leaf
  redline::RuleContract do_contract() const override {
    return {redline::Claim::MARGINALLY_LOSSLESS, {true}};
  }
  static Token decide(Draws& draws, Node u, const Row& p, const Row& left) {
    switch (kBug) {
      case Bug::N9:
        return draws.gumbel_argmax(u, left);
      case Bug::SAMPLE_RESIDUAL:
        return draws.sample(u, left);
      case Bug::DRAW_TWICE:
        return draws.sample(u, p), draws.sample(u, p);
      default:
        return draws.categorical(u, left);
    }
  }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    Node u = kRoot;
    for (;;) {
      Row left = p[u];
      const Node kept = test_children(draft, p[u], u, left, draws);
      if (kept == kNone) return {u, decide(draws, u, p[u], left)};
      u = kept;
    }
  }
  static Node test_children(const Draft& draft, const Row& p, Node u, Row& left, Draws& draws) {
    std::vector<Node> children;
    for (Node c = draft.first_child(u); c != kNone; c = draft.next_sibling(c))
      children.push_back(c);
    if (kBug == Bug::N8)
      std::stable_sort(children.begin(), children.end(),
                       [&](Node a, Node b) { return p.at(draft.token(a)) > p.at(draft.token(b)); });
    for (const Node c : children) {
      const Token x = draft.token(c);
      if (kBug == Bug::N5 && draft.child(u, x) != c) continue;  // a twin's round skipped
      if (draws.bernoulli(c, redline::ratio(left.at(x), draft.q(c).at(x)))) return c;
      if (kBug == Bug::N2)
        left = left.residual(Row::point(left.vocab(), x));
      else if (kBug != Bug::N1)
        left = left.residual(draft.q(c));
    }
    return kNone;
  }
};

template <bool kContiguous>  // N13 keeps contiguous passes; N14 uses the token rule's residual
class Block final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {redline::Claim::MARGINALLY_LOSSLESS, {true}, redline::Shape::CHAIN};
  }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    const Node K = draft.size();
    std::vector<double> w(K + 1, 1.0), h(K + 1, 1.0);
    for (Node i = 1; i <= K; ++i)
      w[i] = redline::ratio(w[i - 1] * p[i - 1].at(draft.token(i)), draft.q(i).at(draft.token(i)));
    for (Node i = 1; i < K; ++i) h[i] = redline::stop(p[i].mass(draft.q(i + 1), w[i]), w[i]);
    h[K] = w[K];
    Node keep = kContiguous ? 0 : K;
    if (kContiguous)
      while (keep < K && draws.bernoulli(keep + 1, h[keep + 1])) ++keep;
    else
      while (keep > 0 && !draws.bernoulli(keep, h[keep])) --keep;
    if (keep == K) return {K, draws.categorical(K, p[K])};
    const double weight = kContiguous ? w[keep] : 1;
    return {keep, draws.categorical(keep, p[keep].residual(draft.q(keep + 1), weight))};
  }
};
}  // namespace

REDLINE_PLUGIN(
    redline::entry<Multiround<Bug::NONE>>("right_multiround", "as it should be"),
    redline::entry<Multiround<Bug::N1>>("n1", "recovery from p"),
    redline::entry<Multiround<Bug::N2>>("n2", "recovery from p minus the rejected token"),
    redline::entry<Multiround<Bug::N5>>("n5", "twin siblings skipped"),
    redline::entry<Multiround<Bug::N8>>("n8", "siblings re-ordered by p"),
    redline::entry<Multiround<Bug::N9>>("n9_rule", "recovery from the noise that chose the draft"),
    redline::entry<Multiround<Bug::SAMPLE_RESIDUAL>>("sample_residual",
                                                     "the position's noise on a residual"),
    redline::entry<Multiround<Bug::DRAW_TWICE>>("draw_twice", "one key drawn twice"),
    redline::entry<Block<true>>("n13", "contiguous passes only"),
    redline::entry<Block<false>>("n14", "block criterion, token residual"));
