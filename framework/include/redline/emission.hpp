// SPDX-License-Identifier: Apache-2.0
// The law of the token that a rule lets follow a node, put together piece by piece: what an
// approximate rule tells its total variation by.
#pragma once
#include "redline/draft.hpp"

namespace redline {
inline namespace v1 {

class REDLINE_API Emission {  // of what is reached with mass 1
 public:
  explicit Emission(std::int32_t vocab) : law_(vocab, 0.0) {}
  double left() const { return left_; }  // mass that emits nothing yet
  // Of what is left, `chance` emits `token`.
  void keep(Token token, double chance) {
    law_.at(token) += left_ * chance;
    left_ *= 1 - chance;
  }
  // Of what is left a token x is drawn from q and emitted with chance(x, q(x)).
  template <class F>
  void keep(const Row& q, F&& chance) {
    const List<double> drawn = read(q);
    double kept = 0;
    for (Token x = 0; x < q.vocab(); ++x) {
      if (drawn[x] <= 0) continue;
      const double mass = drawn[x] * chance(x, drawn[x]);
      law_[x] += left_ * mass;
      kept += mass;
    }
    left_ *= kept < 1 ? 1 - kept : 0;
  }
  void end(const Row& law);       // all that is left is drawn from it
  double tv(const Row& p) const;  // total variation from p

 private:
  static List<double> read(const Row& row);
  List<double> law_;  // [V]
  double left_ = 1;
};

// Whether the laws of u's children hang on no token that was drawn for a sibling.
REDLINE_API bool has_fixed_laws(const Draft& draft, Node u);

}  // namespace v1
}  // namespace redline
