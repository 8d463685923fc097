// SPDX-License-Identifier: Apache-2.0
#include "step/optimal.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace redline;

namespace {

using Probs = std::vector<float>;

double kept(const Probs& p, const Probs& q, int siblings) {
  return step::most_kept(Row::dense(p), Row::dense(q), siblings);
}

double by_all_sets(const Probs& p, const Probs& q, int siblings) {
  double least = 1;
  for (std::size_t set = 0; set < std::size_t{1} << p.size(); ++set) {
    double of_p = 0, of_q = 0;
    for (std::size_t t = 0; t < p.size(); ++t)
      if (set >> t & 1) of_p += p[t], of_q += q[t];
    least = std::min(least, of_p + 1 - std::pow(of_q, siblings));
  }
  return least;
}

Probs some_law(std::mt19937& random, std::size_t vocab) {
  std::gamma_distribution<double> gamma(.5);
  Probs p(vocab);
  double sum = 0;
  for (float& x : p) sum += x = random() % 4 ? static_cast<float>(gamma(random)) : 0;
  p[0] += .01F, sum += .01;
  for (float& x : p) x = static_cast<float>(x / sum);
  return p;
}

}  // namespace

TEST_CASE("the most that i.i.d. siblings allow is the published optimum of VA, VB and VC") {
  const Probs a{.5, .3, .2}, qa{.2, .3, .5}, b{.4, .3, .2, .1}, qb{.1, .2, .3, .4},
      c{.7, .2, .1, 0}, qc{.25, .25, .25, .25};
  CHECK(kept(a, qa, 1) == Approx(.7));
  CHECK(kept(a, qa, 2) == Approx(.86));
  CHECK(kept(a, qa, 3) == Approx(.988));
  CHECK(kept(b, qb, 2) == Approx(.79));
  CHECK(kept(b, qb, 3) == Approx(.871));
  CHECK(kept(c, qc, 2) == Approx(.7375));
  CHECK(kept(c, qc, 3) == Approx(.878125));
}

TEST_CASE("tokens by rising p/q find the least of all sets") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t vocab = 2 + random() % 9;
    const Probs p = some_law(random, vocab), q = some_law(random, vocab);
    for (const int siblings : {1, 2, 3, 5})
      CHECK(kept(p, q, siblings) == Approx(by_all_sets(p, q, siblings)).margin(1e-6));
  }
}

TEST_CASE("one draft allows what p and q share, equal laws everything, disjoint ones nothing") {
  CHECK(kept({.6F, .4F}, {.6F, .4F}, 3) == Approx(1));
  CHECK(kept({1, 0}, {0, 1}, 4) == Approx(0).margin(1e-12));
}
