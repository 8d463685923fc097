// SPDX-License-Identifier: Apache-2.0
// The best any rule can do with a set of siblings (arXiv 2410.18234, 2502.18779): a maximum flow
// from the sets that might have been drawn to the tokens the target wants. Vocabularies of 64.
#include <cmath>
#include <map>

#include "flow.hpp"
#include "own_row.hpp"
#include "redline/plugin.hpp"

namespace {

using redline::Node, redline::Row, redline::Token;

constexpr std::int32_t kVocab = 64;
constexpr double kDraws = 1 << 18;  // sequences of siblings looked at: three of V = 64

// Pr(S) of the set of k tokens drawn from `row`, by its tokens.
class DrawnSets {
 public:
  DrawnSets(const Row& row, bool is_new, int k) : row_(row), is_new_(is_new) {
    if (std::pow(row.vocab(), k) > kDraws)
      throw redline::Error("accept_optimal: " + std::to_string(k) +
                           " siblings of V = " + std::to_string(row.vocab()) +
                           " are more than 262144 draws; draft fewer siblings");
    std::vector<Token> drawn;
    draw(drawn, k, 1);
  }
  const std::map<std::vector<Token>, double>& all() const { return sets_; }

 private:
  void draw(std::vector<Token>& drawn, int k, double weight) {
    if (k == 0) {
      std::vector<Token> set = drawn;
      std::sort(set.begin(), set.end());
      set.erase(std::unique(set.begin(), set.end()), set.end());
      sets_[set] += weight;
      return;
    }
    const Row q = is_new_ ? row_.without(drawn) : row_;
    for (Token t = 0; t < q.vocab(); ++t) {
      const double next = q.at(t);
      if (next <= 0) continue;
      drawn.push_back(t);
      draw(drawn, k - 1, weight * next);
      drawn.pop_back();
    }
  }
  Row row_;
  bool is_new_;
  std::map<std::vector<Token>, double> sets_;
};

struct Plan {  // of one node
  struct Kept {
    Node child;
    double chance;
  };
  std::vector<Kept> kept;
  Row rest;  // the law of the next token when no child is kept
};

std::map<std::vector<Token>, double> sets_below(const redline::Draft& draft, Node u) {
  const redline::Draft::Item& first = draft.item(draft.first_child(u));
  const bool is_row = first.law == redline::Law::ROW;
  std::vector<Token> tokens;
  for (Node c = draft.first_child(u); c != redline::kNone; c = draft.next_sibling(c)) {
    const redline::Draft::Item& item = draft.item(c);
    if ((item.law == redline::Law::ROW) != is_row ||
        (is_row && (item.flags != first.flags || !item.row->same_as(*first.row))))
      throw redline::Error(
          "accept_optimal: siblings of several laws; take draft_tree with method iid, new or top");
    tokens.push_back(item.token);
  }
  if (is_row)
    return DrawnSets(*first.row, first.flags != redline::NO_FLAG, static_cast<int>(tokens.size()))
        .all();
  std::sort(tokens.begin(), tokens.end());
  return {{tokens, 1.0}};
}

Plan plan(const redline::Draft& draft, Node u, const Row& p) {
  std::vector<Token> here;
  for (Node c = draft.first_child(u); c != redline::kNone; c = draft.next_sibling(c))
    if (draft.child(u, draft.token(c)) == c) here.push_back(draft.token(c));
  std::sort(here.begin(), here.end());
  if (here.empty()) return {{}, p};
  const auto sets = sets_below(draft, u);
  if (!sets.contains(here))
    throw redline::Error(
        "accept_optimal: siblings that their own law cannot draw; the drafter declares another law "
        "than it drew from");
  Flow flow(numbers(p));
  std::size_t mine = 0;
  for (const auto& [tokens, chance] : sets) {
    if (tokens == here) mine = flow.size();
    flow.add(tokens, chance);
  }
  flow.fill();
  Plan out{{}, p};
  for (std::size_t k = 0; k < here.size(); ++k)
    out.kept.push_back({draft.child(u, here[k]), flow.of(mine, k) / sets.at(here)});
  if (auto rest = OwnRow::make(flow.room())) out.rest = Row(std::move(rest));
  return out;
}

class Optimal final : public redline::AcceptanceRule {
 public:
  Optimal(redline::NoParams, redline::Host& host) {
    if (host.target().vocab > kVocab)
      throw redline::InputError(
          "accept_optimal: the target has V = " + std::to_string(host.target().vocab) +
          ", a flow is solved for at most 64; take accept_kseq or "
          "accept_traversal");
  }

 private:
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::MARGINALLY_LOSSLESS, .reads = {.row = true}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const Row> p,
                            redline::Draws& draws) const override {
    for (Node u = redline::kRoot;;) {
      const Plan now = plan(draft, u, p[u]);
      Node next = redline::kNone;
      double left = 1;
      for (const auto& [child, chance] : now.kept) {
        if (draws.bernoulli(child, redline::ratio(chance, left))) {
          next = child;
          break;
        }
        left -= chance;
      }
      if (next == redline::kNone) return {u, draws.categorical(u, now.rest)};
      u = next;
    }
  }
  double do_expected_accepted(const redline::Draft& draft, std::span<const Row> p) const override {
    std::vector<double> reach(p.size(), 0.0);  // parents come first
    reach[redline::kRoot] = 1;
    double sum = 0;
    for (Node u = redline::kRoot; u <= draft.size(); ++u) {
      if (reach[u] <= 0) continue;
      for (const auto& [child, chance] : plan(draft, u, p[u]).kept)
        sum += reach[child] = reach[u] * chance;
    }
    return sum;
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Optimal>("accept_optimal",
                                       "optimal transport by maximum flow, V up to 64, trees"));
