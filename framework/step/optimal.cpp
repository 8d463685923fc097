// SPDX-License-Identifier: Apache-2.0
#include "step/optimal.hpp"

#include <algorithm>
#include <cmath>

namespace redline::step {

// p(H) - q(H)^k is concave in (p(H), q(H)), so its least value is at a corner of what sets can
// reach: at the first tokens by rising p/q.
double most_kept(const Row& p, const Row& q, int siblings) {
  const auto vocab = static_cast<std::size_t>(p.vocab());
  List<double> of_p(vocab), of_q(vocab);
  p.read(0, {of_p.data(), vocab});
  q.read(0, {of_q.data(), vocab});
  List<Token> order;  // what q never draws costs p and brings nothing
  for (std::size_t t = 0; t < vocab; ++t)
    if (of_q[t] > 0) order.push_back(static_cast<Token>(t));
  std::ranges::sort(order, [&](Token a, Token b) {
    const double left = of_p[a] * of_q[b], right = of_p[b] * of_q[a];
    return left != right ? left < right : a < b;
  });
  double sum_p = 0, sum_q = 0, least = 1;
  for (const Token t : order) {
    sum_p += of_p[t], sum_q += of_q[t];
    least = std::min(least, sum_p + 1 - std::pow(sum_q, siblings));
  }
  return std::clamp(least, 0.0, 1.0);
}

}  // namespace redline::step
