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

TEST_CASE("of children, the bound follows from the laws they were drawn from") {
  const Row p = Row::dense(std::vector<float>{.4F, .3F, .2F, .1F}),
            q = Row::dense(std::vector<float>{.1F, .2F, .3F, .4F});
  const auto children = [&](std::initializer_list<Draft::Item> items) {
    Draft draft(4);
    for (const Draft::Item& item : items) draft.append(item);
    return step::most_kept(draft, kRoot, p);
  };
  const Draft::Item iid{0, 3, Law::ROW, q}, fresh{0, 2, Law::ROW, q, EXCLUDE_EARLIER_SIBLINGS},
      coupled{0, 3, Law::COUPLED, q};
  CHECK(children({iid}) == Approx(.6));
  CHECK(children({iid, iid}) == Approx(.79));
  CHECK(children({iid, iid, iid}) == Approx(.871));
  CHECK(children({fresh}) == Approx(.6));
  CHECK(children({iid, fresh}) == Approx(.834524).margin(1e-6));
  CHECK(children({{0, 0}, {0, 1}}) == Approx(.7));  // deltas: what p gives them
  CHECK(children({coupled}) == Approx(.6));
  // The greedy pair: a sample from outside the best two, and those two.
  const std::vector<Token> best{3, 2};
  CHECK(children({{0, 1, Law::ROW, q.without(best)}, {0, 3}, {0, 2}}) ==
        Approx(.933333).margin(1e-6));
}

TEST_CASE("where the bound is not known it is no number") {
  const Row p = Row::dense(std::vector<float>{.4F, .3F, .2F, .1F}), q = p.without({}),
            other = Row::dense(std::vector<float>{.1F, .2F, .3F, .4F});
  const auto unknown = [&](std::initializer_list<Draft::Item> items) {
    Draft draft(4);
    for (const Draft::Item& item : items) draft.append(item);
    return std::isnan(step::most_kept(draft, kRoot, p));
  };
  const auto fresh = [&](Token t) {
    return Draft::Item{0, t, Law::ROW, q, EXCLUDE_EARLIER_SIBLINGS};
  };
  CHECK(unknown({fresh(0), fresh(1), fresh(2)}));
  CHECK(unknown({{0, 0, Law::ROW, q}, {0, 0, Law::ROW, other}}));
  CHECK(unknown({{0, 0}, fresh(1)}));
  CHECK(unknown({{0, 0, Law::COUPLED, q}, {0, 1, Law::COUPLED, q}}));
  CHECK(unknown({{0, 0, Law::COUPLED, std::nullopt}}));
}

TEST_CASE("two drawn without replacement find the least of all sets by rising p/q too") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const std::size_t vocab = 3 + random() % 6;
    const Probs of_p = some_law(random, vocab);
    Probs of_q = some_law(random, vocab);
    of_q[1] += .01F;  // at least two can come
    for (float& x : of_q) x /= 1.01F;
    const Row p = Row::dense(of_p), q = Row::dense(of_q);
    Draft draft(static_cast<std::int32_t>(vocab));
    for (int k = 0; k < 2; ++k) draft.append({0, k, Law::ROW, q, EXCLUDE_EARLIER_SIBLINGS});
    double least = 1;
    for (std::size_t set = 0; set < std::size_t{1} << vocab; ++set) {
      double in_p = 0, both = 0;
      for (Token a = 0; a < static_cast<Token>(vocab); ++a) {
        if (!(set >> a & 1)) continue;
        in_p += p.at(a);
        for (Token b = 0; b < static_cast<Token>(vocab); ++b)
          if (b != a && set >> b & 1 && q.at(a) > 0) both += q.at(a) * q.at(b) / (1 - q.at(a));
      }
      least = std::min(least, in_p + 1 - both);
    }
    CHECK(step::most_kept(draft, kRoot, p) == Approx(least).margin(1e-6));
  }
}

TEST_CASE("one draft allows what p and q share, equal laws everything, disjoint ones nothing") {
  CHECK(kept({.6F, .4F}, {.6F, .4F}, 3) == Approx(1));
  CHECK(kept({1, 0}, {0, 1}, 4) == Approx(0).margin(1e-12));
}
