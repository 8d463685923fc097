// SPDX-License-Identifier: Apache-2.0
// Ordered path selection (family of arXiv 2602.16961): of K i.i.d. paths take the first in an order
// that depends on p and q alone, then verify it as a block against the law of the path selected.
#include "falling.hpp"
#include "own_row.hpp"
#include "redline/plugin.hpp"

namespace {

using redline::Node, redline::Row, redline::Token;

double geometric(double a, double b, int k) {  // (a^k - b^k) / (a - b), without cancelling
  double sum = 0, power = 1;
  for (int j = 0; j < k; ++j, power *= b) sum = sum * a + power;
  return sum;
}

// The law of the first of K paths, followed down that path.
class Selection {
 public:
  explicit Selection(int paths) : paths_(paths) {}

  // Orders the tokens here: falling p/q, ties to the lowest id.
  void look(const Row& p, const Row& q) {
    const std::vector<double> p_of = numbers(p);
    q_ = numbers(q);
    std::vector<Place> places;
    for (std::size_t t = 0; t < q_.size(); ++t)
      if (q_[t] > 0) places.push_back({p_of[t] / q_[t], static_cast<Token>(t)});
    const std::vector<Place> order = falling(std::move(places));
    after_.assign(q_.size(), 0.0);
    double after = 0;
    for (auto at = order.rbegin(); at != order.rend(); after += q_[at++->token])
      after_[at->token] = after;
  }
  bool is_before(Token a, Token b) const { return after_[a] > after_[b]; }
  // Of the next token of the selected path: q(y) times how often y's rank wins among K.
  Row law() const {
    std::vector<double> law(q_.size(), 0.0);
    for (std::size_t t = 0; t < q_.size(); ++t) {
      const double behind = behind_ + reach_ * after_[t];
      law[t] = q_[t] * geometric(behind + reach_ * q_[t], behind, paths_);
    }
    return Row(OwnRow::make(std::move(law)));
  }
  void follow(Token x) {
    behind_ += reach_ * after_[x];
    reach_ *= q_[x];
  }

 private:
  int paths_;
  double reach_ = 1;               // chance that one path begins as the selected one so far
  double behind_ = 0;              // chance that it comes later in the order
  std::vector<double> q_, after_;  // [V]; after_: mass of q later in the order
};

struct Path {
  std::vector<Node> nodes = {redline::kRoot};  // [L+1]
  std::vector<Row> q = {};                     // [L] the law of nodes[i + 1], as selected
  int size() const { return static_cast<int>(q.size()); }
};

void check(const redline::Draft& draft, const std::vector<Node>& paths) {
  bool are_paths = true;
  for (std::size_t k = 1; k < paths.size(); ++k)
    for (const Node c : {paths[0], paths[k]}) {
      const redline::Draft::Item& item = draft.item(c);
      are_paths = are_paths && item.law == redline::Law::ROW && item.flags == redline::NO_FLAG &&
                  item.row->same_as(*draft.item(paths[0]).row);
    }
  for (Node n = 1; n <= draft.size(); ++n) {
    const Node child = draft.first_child(n);
    are_paths = are_paths && (paths.size() == 1 || draft.item(n).law == redline::Law::ROW) &&
                (child == redline::kNone || draft.next_sibling(child) == redline::kNone);
  }
  if (!are_paths)
    throw redline::Error(
        "accept_ordered: the draft is not i.i.d. paths from the root; take draft_tree with method "
        "iid and a shape like 2;1;1");
}

Path select(const redline::Draft& draft, std::span<const Row> p) {
  std::vector<Node> now;
  for (Node c = draft.first_child(redline::kRoot); c != redline::kNone; c = draft.next_sibling(c))
    now.push_back(c);
  check(draft, now);
  Path path;
  const auto paths = static_cast<int>(now.size());
  Selection selection(paths);
  Node at = redline::kRoot;
  if (paths == 1) {  // nothing to select
    for (Node c = now.front(); c != redline::kNone; c = draft.first_child(c))
      path.q.push_back(draft.q(at = c));
    now.clear();
  }
  while (!now.empty()) {
    selection.look(p[at], draft.q(now.front()));
    Token x = draft.token(now.front());
    for (const Node c : now)
      if (selection.is_before(draft.token(c), x)) x = draft.token(c);
    std::erase_if(now, [&](Node c) { return draft.token(c) != x; });
    path.q.push_back(selection.law());
    selection.follow(x);
    at = now.front();
    std::vector<Node> below;
    for (const Node c : now)
      if (draft.first_child(c) != redline::kNone) below.push_back(draft.first_child(c));
    if (!below.empty() && below.size() != now.size())  // twins that were not to grow alike
      throw redline::Error(
          "accept_ordered: paths that begin alike end at different depths; take draft_tree with "
          "a shape like 2;1;1, of equal paths");
    now = std::move(below);
  }
  for (; at != redline::kRoot; at = draft.parent(at)) path.nodes.insert(path.nodes.begin() + 1, at);
  return path;
}

class Ordered final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::MARGINALLY_LOSSLESS, .reads = {.row = true}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const Row> p,
                            redline::Draws& draws) const override {
    const Path path = select(draft, p);
    std::vector<double> w(path.nodes.size(), 1.0);  // as in block verification
    for (int i = 1; i <= path.size(); ++i) {
      const Token x = draft.token(path.nodes[i]);
      w[i] = redline::ratio(w[i - 1] * p[path.nodes[i - 1]].at(x), path.q[i - 1].at(x));
    }
    const auto chance = [&](int i) {
      return i == path.size() ? w[i] : redline::stop(p[path.nodes[i]].mass(path.q[i], w[i]), w[i]);
    };
    int i = path.size();
    while (i > 0 && !draws.bernoulli(path.nodes[i], chance(i))) --i;
    const Node keep = path.nodes[i];
    if (i == path.size()) return {keep, draws.categorical(keep, p[keep])};
    return {keep, draws.categorical(keep, p[keep].residual(path.q[i], w[i]))};
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Ordered>("accept_ordered",
                                       "the first of K i.i.d. paths, verified as a block"));
