// SPDX-License-Identifier: Apache-2.0
// Traversal verification, leaf to root (arXiv 2505.12398): test the first path from its end; a
// refused leaf leaves its parent less to give. On chains it is block verification.
#include "redline/plugin.hpp"

namespace {

using redline::Node, redline::Row;

// The tree as the refusals so far have left it.
class Remains {
 public:
  Remains(const redline::Draft& draft, std::span<const Row> p)
      : draft_(draft), left_(p.begin(), p.end()), refused_(p.size()), weight_(p.size(), 1.0) {
    for (Node u = redline::kRoot; u <= draft.size(); ++u) first_.push_back(draft.first_child(u));
    at_ = deepest(redline::kRoot);
  }
  Node at() const { return at_; }  // the end of the first path that remains
  double weight() const { return weight_[at_]; }
  const Row& left() {
    settle(at_);
    return left_[at_];
  }

  void refuse() {
    const Node u = draft_.parent(at_);
    refused_[u] = {at_, weight_[u]};
    weight_[u] = redline::stop(left_[u].mass(draft_.q(at_), weight_[u]), weight_[u]);
    first_[u] = draft_.next_sibling(at_);
    at_ = deepest(u);
  }

 private:
  Node deepest(Node u) {
    for (Node c; (c = first_[u]) != redline::kNone; u = c) {
      settle(u);
      const redline::Token x = draft_.token(c);
      weight_[c] = redline::ratio(weight_[u] * left_[u].at(x), draft_.q(c).at(x));
    }
    return u;
  }
  void settle(Node u) {  // a row is worked out only where something more is asked of it
    auto& [child, weight] = refused_[u];
    if (child == redline::kNone) return;
    left_[u] = left_[u].residual(draft_.q(child), weight);
    child = redline::kNone;
  }

  struct Refused {
    Node child = redline::kNone;
    double weight = 1;  // of the parent, when it was tested
  };
  const redline::Draft& draft_;
  redline::List<Row> left_;         // [m+1] what is still owed at u, but for refused_[u]
  redline::List<Refused> refused_;  // [m+1] the latest at u, until settled
  redline::List<double> weight_;    // [m+1] how much of reaching u the target backs
  redline::List<Node> first_;       // [m+1] the first child not yet refused
  Node at_;
};

class Traversal final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::MARGINALLY_LOSSLESS, .reads = {.row = true}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const Row> p,
                            redline::Draws& draws) const override {
    Remains tree(draft, p);
    while (tree.at() != redline::kRoot && !draws.bernoulli(tree.at(), tree.weight())) tree.refuse();
    return {tree.at(), draws.categorical(tree.at(), tree.left())};
  }
  double do_expected_accepted(const redline::Draft& draft, std::span<const Row> p) const override {
    double sum = 0, refused = 1;  // refused: the chance that all ends so far were
    for (Remains tree(draft, p); tree.at() != redline::kRoot; tree.refuse()) {
      sum += draft.depth(tree.at()) * refused * tree.weight();
      refused *= 1 - tree.weight();
    }
    return sum;
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Traversal>("accept_traversal", "traversal verification, trees"));
