// SPDX-License-Identifier: Apache-2.0
// Greedy multi-draft speculative sampling (arXiv 2502.18779), a paper's two halves in one file: a
// drafter of the k - 1 best tokens and one sample from outside them, and a rule that reaches the
// optimum for such siblings. The rule is lossless for every other draft too.
#include <vector>

#include "redline/plugin.hpp"

namespace {

using redline::Node, redline::Row, redline::Token;

// Levels of k siblings, each level below the most likely token of the one above.
class GreedyDraft final : public redline::Drafter {
 public:
  struct Params {
    std::string model;
    int k = 3;
    void visit(redline::ParameterVisitor& v) {
      v("model", model, "the draft model: a name or a path");
      v("k", k, {1, 64}, "siblings a level: one is sampled, the others are the best");
    }
  };
  GreedyDraft(const Params& p, redline::Host& host) : k_(p.k), model_(open(p.model, host)) {}

 private:
  static redline::Model& open(const std::string& model, redline::Host& host) {
    if (model.empty())
      throw redline::InputError("model is empty; name the draft model, e.g. model: my-draft");
    return host.open_model(model);
  }

  redline::DrafterContract do_contract() const override {
    return {.emits = {.row = true},
            .shape = k_ == 1 ? redline::Shape::CHAIN : redline::Shape::TREE};
  }

  void do_propose(std::span<redline::Proposal> batch) override {
    for (redline::Proposal& p : batch)
      for (Node u = redline::kRoot; u != redline::kNone && fits(p, u);)
        u = grow(p, u, model_.next(p, u));
  }

  // A level is drafted whole or not at all: no token may decide which of its nodes there are.
  bool fits(const redline::Proposal& p, Node u) const {
    return p.has_room(u) && p.draft().size() + k_ <= p.budget().max_nodes;
  }

  // The node to go on from.
  Node grow(redline::Proposal& p, Node u, const Row& q) const {
    std::vector<Token> best;
    for (const Row::Entry& e : q.top(std::min(k_, q.vocab()) - 1)) best.push_back(e.token);
    const Node sampled = p.sample(u, q.without(best));  // first: it is tested first
    if (best.empty()) return sampled;
    for (const Token t : best) p.add(u, t, q);
    return p.draft().child(u, best.front());
  }

  int k_;
  redline::Model& model_;
};

// Keep a first sampled child s with probability min(1, p(s) / q(s)); else draw y from norm(p - q)+,
// or from p where none was sampled, and keep it if it is drafted. y depends on no other child.
class GreedyAccept final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::MARGINALLY_LOSSLESS, .reads = {.row = true}};
  }

  struct Test {  // of a node's first child, and what is owed when it fails
    Node child;
    double chance;
    Row rest;
  };
  static Test test(const redline::Draft& draft, Node u, const Row& p) {
    const Node s = draft.first_child(u);
    if (s == redline::kNone || draft.item(s).law != redline::Law::ROW) return {s, 0, p};
    const Row q = draft.q(s);
    return {s, redline::ratio(p.at(draft.token(s)), q.at(draft.token(s))), p.residual(q)};
  }

  redline::Verdict do_judge(const redline::Draft& draft, std::span<const Row> p,
                            redline::Draws& draws) const override {
    for (Node u = redline::kRoot;;) {
      const auto [child, chance, rest] = test(draft, u, p[u]);
      if (chance > 0 && draws.bernoulli(child, chance)) {
        u = child;
        continue;
      }
      const Token y = draws.categorical(u, rest);
      const Node kept = draft.child(u, y);
      if (kept == redline::kNone) return {u, y};
      u = kept;
    }
  }

  double do_expected_accepted(const redline::Draft& draft, std::span<const Row> p) const override {
    std::vector<double> reach(p.size(), 0.0);  // the chance that a node is kept; parents come first
    reach[redline::kRoot] = 1;
    double sum = 0;
    for (Node u = redline::kRoot; u <= draft.size(); ++u) {
      const auto [child, chance, rest] = test(draft, u, p[u]);
      for (Node c = child; c != redline::kNone; c = draft.next_sibling(c)) {
        const bool is_first = draft.child(u, draft.token(c)) == c;  // of its token
        const double tested = c == child ? chance : 0;
        reach[c] = reach[u] * (tested + (is_first ? (1 - chance) * rest.at(draft.token(c)) : 0));
        sum += reach[c];
      }
    }
    return sum;
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<GreedyDraft>("paper_greedy_draft", "one sample and the best tokens"),
               redline::entry<GreedyAccept>("paper_greedy_accept",
                                            "the optimum for paper_greedy_draft, trees"));
