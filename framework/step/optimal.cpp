// SPDX-License-Identifier: Apache-2.0
#include "step/optimal.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace redline::step {
namespace {

struct Siblings {
  List<Token> certain = {};  // deltas: in every set that might have been drawn
  std::optional<Row> q = std::nullopt;
  int drawn = 0;        // from q
  bool is_new = false;  // without replacement
};

// The chance that all that is drawn lies in a set of tokens, which grows.
class Inside {
 public:
  explicit Inside(const Siblings& siblings) : siblings_(siblings) {}
  void add(double q) {
    mass_ += q;
    if (!siblings_.is_new) return;
    odds_ += q / (1 - q);
    twice_ += q * q / (1 - q);
  }
  double chance() const {
    if (siblings_.is_new && siblings_.drawn == 2) return mass_ * odds_ - twice_;
    return std::pow(mass_, siblings_.drawn);
  }

 private:
  const Siblings& siblings_;
  double mass_ = 0;              // q of the set
  double odds_ = 0, twice_ = 0;  // sums of q / (1 - q) and q^2 / (1 - q)
};

List<double> numbers(const Row& row) {
  List<double> out(static_cast<std::size_t>(row.vocab()));
  row.read(0, {out.data(), out.size()});
  return out;
}

// The least over sets H that hold the certain tokens of p(H) + 1 - Pr(drawn in H). It is concave in
// (p(H), q(H)), so its least value is at a corner of what sets can reach: at the first tokens by
// rising p/q. (Likewise of two without replacement.)
double least(const Row& p, const Siblings& siblings) {
  List<double> of_p = numbers(p), of_q = numbers(*siblings.q);
  Inside inside(siblings);
  double sum_p = 0;
  for (const Token t : siblings.certain) {
    sum_p += of_p[t], inside.add(of_q[t]);
    of_q[t] = 0;
  }
  List<Token> order;  // what q never draws costs p and brings nothing
  for (std::size_t t = 0; t < of_q.size(); ++t)
    if (of_q[t] > 0) order.push_back(static_cast<Token>(t));
  std::ranges::sort(order, [&](Token a, Token b) {
    const double left = of_p[a] * of_q[b], right = of_p[b] * of_q[a];
    return left != right ? left < right : a < b;
  });
  double least = std::min(1.0, sum_p + 1 - inside.chance());
  for (const Token t : order) {
    sum_p += of_p[t], inside.add(of_q[t]);
    least = std::min(least, sum_p + 1 - inside.chance());
  }
  return std::clamp(least, 0.0, 1.0);
}

// std::nullopt: children of laws whose bound is not known.
std::optional<Siblings> siblings_below(const Draft& draft, Node parent) {
  Siblings out;
  bool excludes = false;
  for (Node c = draft.first_child(parent); c != kNone; c = draft.next_sibling(c)) {
    const Draft::Item& item = draft.item(c);
    if (item.law == Law::DELTA) {
      out.certain.push_back(item.token);
      continue;
    }
    const bool is_alike = out.drawn == 0 || (item.law == Law::ROW && item.row->same_as(*out.q));
    if (!item.row || !is_alike) return std::nullopt;
    out.q = item.row;
    out.drawn += 1;
    excludes |= (item.flags & EXCLUDE_EARLIER_SIBLINGS) != 0;
    out.is_new |= (item.flags & EXCLUDE_EARLIER_SIBLINGS) != 0 && out.drawn > 1;
  }
  if (excludes && !out.certain.empty()) return std::nullopt;
  if (out.is_new && (out.drawn > 2 || out.q->is_point())) return std::nullopt;
  return out;
}

}  // namespace

double most_kept(const Row& p, const Row& q, int siblings) {
  return least(p, {.q = q, .drawn = siblings});
}

double most_kept(const Draft& draft, Node parent, const Row& p) {
  const auto siblings = siblings_below(draft, parent);
  if (!siblings) return std::numeric_limits<double>::quiet_NaN();
  if (siblings->q) return least(p, *siblings);
  double kept = 0;  // nothing was left to chance
  for (const Token t : siblings->certain) kept += p.at(t);
  return std::min(kept, 1.0);
}

}  // namespace redline::step
