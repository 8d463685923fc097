// SPDX-License-Identifier: Apache-2.0
#include "redline/row.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

using redline::Row, redline::Token;

namespace {

// VB of the rules' literature: alpha .6, residual (.75, .25, 0, 0).
const std::vector<float> kP{.4F, .3F, .2F, .1F}, kQ{.1F, .2F, .3F, .4F};

Row sparse(const std::vector<float>& p) {
  std::vector<Token> ids;
  std::vector<float> some;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p[i] > 0) ids.push_back(static_cast<Token>(i)), some.push_back(p[i]);
  return Row::sparse(static_cast<std::int32_t>(p.size()), ids, some);
}
std::vector<float> random_law(std::mt19937& g, std::size_t vocab, double zeros) {
  std::vector<float> p(vocab);
  double sum = 0;
  std::uniform_real_distribution<double> u;
  for (float& x : p) sum += x = u(g) < zeros ? 0 : static_cast<float>(u(g) * u(g));
  for (float& x : p) x = static_cast<float>(x / sum);
  return p;
}
// What the header says, in the plainest loops.
std::vector<double> plain_residual(const Row& p, const Row& q, double w) {
  std::vector<double> r(p.vocab());
  double s = 0;
  for (Token t = 0; t < p.vocab(); ++t) s += r[t] = std::max(0.0, w * p.at(t) - q.at(t));
  for (double& x : r) x /= s;
  return r;
}

}  // namespace

TEST_CASE("a row answers alike dense and sparse") {
  std::mt19937 g(3);
  for (const std::size_t vocab : {7U, 1024U, 2500U}) {
    const auto law = random_law(g, vocab, .5), other = random_law(g, vocab, .5);
    const Row rows[] = {Row::dense(law), sparse(law)},
              others[] = {Row::dense(other), sparse(other)};
    for (const Row& p : rows) {
      CHECK(p.entropy() == Approx(rows[0].entropy()).epsilon(1e-12));
      CHECK(p.argmax() == rows[0].argmax());
      for (const double u : {0.0, .1, .5, .9, .999999}) CHECK(p.pick(u) == rows[0].pick(u));
      const auto top = p.top(20), want = rows[0].top(20);
      REQUIRE(top.size() == want.size());
      for (std::size_t k = 0; k < top.size(); ++k) CHECK(top[k].token == want[k].token);
      for (const Row& q : others) {
        for (const double w : {1.0, .4}) {
          const Row r = p.residual(q, w);
          const auto plain = plain_residual(p, q, w);
          for (Token t = 0; t < p.vocab(); ++t) REQUIRE(r.at(t) == Approx(plain[t]).margin(1e-12));
          REQUIRE(p.mass(q, w) == Approx(rows[0].mass(others[0], w)).margin(1e-12));
        }
        CHECK(p.overlap(q) == Approx(q.overlap(p)).margin(1e-9));
      }
    }
  }
}

TEST_CASE("the residual of the reference pair is three quarters and one quarter") {
  const Row p = Row::dense(kP), q = Row::dense(kQ), r = p.residual(q);
  CHECK(p.overlap(q) == Approx(.6).epsilon(1e-7));
  CHECK(r.at(0) == Approx(.75).epsilon(1e-7));
  CHECK(r.at(1) == Approx(.25).epsilon(1e-7));
  CHECK(r.at(2) == 0);
  CHECK(r.at(3) == 0);
}

TEST_CASE("a row sums to 1 in float64 though it was given in float32") {
  const std::vector<float> law{.1F, .2F, .7F};  // 1.00000001 as float32
  for (const Row& row : {Row::dense(law), sparse(law)})
    CHECK(std::abs(row.at(0) + row.at(1) + row.at(2) - 1) < 1e-15);
}

TEST_CASE("nothing left: the residual is p, what remains without is uniform") {
  const Row p = Row::dense(kP), point = Row::point(4, 2);
  CHECK(p.residual(p).at(1) == p.at(1));
  CHECK(point.residual(point).at(2) == 1);
  const Token used[] = {2, 0};
  const Row rest = point.without(used);
  CHECK(rest.at(1) == .5);
  CHECK(rest.at(3) == .5);
  const Row less = p.without(used);
  CHECK(less.at(1) == Approx(.75).epsilon(1e-6));
  CHECK(less.at(0) == 0);
  const Token all[] = {0, 1, 2, 3};
  CHECK_THROWS_WITH(p.without(all), Catch::Contains("all 4 tokens of the vocabulary are used"));
}

TEST_CASE("picking inverts the distribution function and never lands on zero") {
  const Row p = Row::dense(std::vector<float>{0, .25F, 0, .75F, 0});
  CHECK(p.pick(0) == 1);
  CHECK(p.pick(.2499) == 1);
  CHECK(p.pick(.25) == 3);
  CHECK(p.pick(std::nextafter(1.0, 0.0)) == 3);
  std::vector<float> wide(5000, 0.0F);
  wide[1023] = .5F, wide[4000] = .5F;  // mass in the first and fourth block alone
  const Row row = Row::dense(wide);
  CHECK(row.pick(.499) == 1023);
  CHECK(row.pick(.5) == 4000);
  CHECK(row.pick(std::nextafter(1.0, 0.0)) == 4000);
}

TEST_CASE("ties go to the lowest id") {
  std::vector<float> p(100, .01F);
  const Row row = Row::dense(p);
  CHECK(row.argmax() == 0);
  const auto top = row.top(3);
  CHECK(top[0].token == 0);
  CHECK(top[1].token == 1);
  CHECK(top[2].token == 2);
}

TEST_CASE("the best token of a wide row is the first greatest, wherever it lies") {
  for (const std::size_t vocab : {1UL, 4095UL, 4096UL, 4097UL, 20000UL})
    for (const std::size_t at : {0UL, vocab / 3, vocab - 1}) {
      std::vector<float> p(vocab, 1.F / static_cast<float>(vocab + 1));
      p[at] = 2.F / static_cast<float>(vocab + 1);
      CHECK(Row::dense(p).argmax() == static_cast<Token>(at));
      std::fill(p.begin(), p.end(), 0.F);
      p[at / 2] = p[at] = at / 2 == at ? 1.F : .5F;
      CHECK(Row::dense(p).argmax() == static_cast<Token>(at / 2));
    }
}

TEST_CASE("a point row knows it is one") {
  CHECK(Row::point(9, 4).is_point());
  CHECK_FALSE(Row::dense(kP).is_point());
  CHECK(Row::dense(std::vector<float>{0, 1, 0}).is_point());
}

TEST_CASE("a bad row is refused with the number that is wrong") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(Row::dense(std::vector<float>{.5F, nan, .5F}),
                    "row: probability 1 is nan; each must be finite and not negative");
  CHECK_THROWS_WITH(Row::dense(std::vector<float>{1.5F, -.5F}),
                    Catch::Contains("probability 1 is -0.5"));
  CHECK_THROWS_WITH(Row::dense(std::vector<float>{.5F, .4F}),
                    "row: sums to 0.9, must be 1 within 1e-4; normalise it");
  CHECK_THROWS_WITH(Row::dense(std::vector<float>{}), Catch::Contains("sums to 0"));
  CHECK_THROWS_WITH(Row::point(4, 4), "row: token 4 is not below V = 4");
  const Token ids[] = {1, 1};
  const float halves[] = {.5F, .5F};
  CHECK_THROWS_WITH(Row::sparse(4, ids, halves), "row: token 1 follows 1; ids must rise");
  CHECK_THROWS_WITH(Row::dense(kP).at(-1), Catch::Contains("token -1 is not below V"));
  CHECK_THROWS_WITH(Row::dense(kP).mass(Row::point(5, 0)),
                    Catch::Contains("V = 4 met a row of V = 5"));
  double out[3];
  CHECK_THROWS_WITH(Row::dense(kP).read(2, out), Catch::Contains("passes V = 4"));
}
