// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "redline/sampler.hpp"

using redline::Logits, redline::Row, redline::Token;

namespace {

std::vector<float> logs(std::vector<float> p) {
  for (float& x : p) x = std::log(x);
  return p;
}
std::vector<Token> kept(const Logits& l) { return {l.kept().begin(), l.kept().end()}; }

class Masking final : public redline::SamplerOf<int> {  // bans the tokens it was given
 public:
  explicit Masking(std::vector<Token> banned) : banned_(std::move(banned)) {}

 private:
  redline::Slot do_slot() const override { return redline::Slot::MASK; }
  void edit(const int&, Logits& row) const override {
    for (const Token t : banned_) row.ban(t);
  }
  std::vector<Token> banned_;
};
void apply(const redline::Sampler& link, Logits& row) { link.apply(*link.begin({}), row); }

}  // namespace

TEST_CASE("the softmax of logits is the row, a banned token exactly 0") {
  Logits l(logs({.4F, .3F, .2F, .1F}));
  CHECK(l.row().at(2) == Approx(.2).epsilon(1e-6));
  l.ban(3);
  CHECK(l.row().at(3) == 0);
  CHECK(l.row().at(0) == Approx(4. / 9).epsilon(1e-6));
  CHECK(Logits(std::vector<float>{0, -500}).row().at(1) == 0);
}

TEST_CASE("the softmax agrees with libm's exp") {
  std::mt19937 g(5);
  std::normal_distribution<float> n(0, 8);
  std::vector<float> x(3001);
  for (float& v : x) v = n(g);
  double sum = 0;
  for (const float v : x) sum += std::exp(double{v});
  const Row row = Logits(x).row();
  for (std::size_t t = 0; t < x.size(); ++t)
    REQUIRE(row.at(static_cast<Token>(t)) == Approx(std::exp(double{x[t]}) / sum).epsilon(1e-6));
}

TEST_CASE("a row made of logits tells the entropy that its probabilities sum to") {
  const auto check = [](const Row& row) {
    std::vector<double> p(row.vocab());
    row.read(0, p);
    double sum = 0;
    for (const double x : p) sum -= x > 0 ? x * std::log(x) : 0;
    CHECK(row.entropy() == Approx(sum).epsilon(1e-6).margin(1e-12));
  };
  std::mt19937 g(7);
  for (const float spread : {0.F, .1F, 1.F, 4.F, 20.F, 80.F})
    for (const std::size_t vocab : {1UL, 2UL, 7UL, 3001UL}) {
      std::normal_distribution<float> n(0, spread + 1e-6F);
      std::vector<float> x(vocab);
      for (float& v : x) v = n(g);
      Logits l(x);
      check(l.row());
      if (vocab < 7) continue;
      for (Token t = 0; t < l.vocab(); t += 3) l.ban(t);
      check(l.row());
      l.keep_top_p(.9);
      check(l.row());
      l.keep_argmax();
      CHECK(l.row().entropy() == 0);
    }
}

TEST_CASE("what follows a row of logits has an entropy of its own") {
  const Row row = Logits(logs({.4F, .3F, .2F, .1F})).row();
  const Token used[] = {0};
  CHECK(row.without(used).entropy() ==
        Approx(-.5 * std::log(.5) - std::log(1. / 3) / 3 - std::log(1. / 6) / 6).epsilon(1e-6));
  const Row q = Row::dense(std::vector<float>{.1F, .2F, .3F, .4F});
  CHECK(row.residual(q).entropy() ==
        Approx(-.75 * std::log(.75) - .25 * std::log(.25)).epsilon(1e-6));
}

namespace {

// Of weights exp(logit - highest): sorted whole, the better first, until `mass` is held.
std::vector<Token> sorted_top_p(const Row& row, const std::vector<float>& logits, double mass) {
  std::vector<Token> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](Token a, Token b) { return row.at(a) > row.at(b); });
  double held = 0;
  std::size_t count = 0;
  while (count < order.size() && (count == 0 || held < mass)) held += row.at(order[count++]);
  order.resize(count);
  std::ranges::sort(order);
  return order;
}

}  // namespace

TEST_CASE("top-p keeps the tokens that sorting all of them would keep, among ties the first") {
  std::mt19937 g(11);
  for (const float spread : {0.F, 0.1F, 1.F, 4.F, 20.F})
    for (const std::size_t vocab : {1UL, 7UL, 3001UL}) {
      std::normal_distribution<float> n(0, spread + 1e-6F);
      std::vector<float> x(vocab);
      for (float& v : x) v = std::round(4 * n(g)) / 4;  // many are as good as others
      const Row row = Logits(x).row();
      for (const double mass : {1e-9, 0.3, 0.9, 0.95, 0.999}) {
        Logits l(x);
        l.keep_top_p(mass);
        CHECK(kept(l) == sorted_top_p(row, x, mass));
      }
    }
}

TEST_CASE("each cut keeps what its definition says") {
  const auto law = logs({.1F, .4F, .05F, .3F, .15F});
  const auto after = [&](auto&& cut) {
    Logits l(law);
    cut(l);
    return kept(l);
  };
  CHECK(after([](Logits& l) { l.keep_top(2); }) == std::vector<Token>{1, 3});
  CHECK(after([](Logits& l) { l.keep_top_p(.69); }) == std::vector<Token>{1, 3});
  CHECK(after([](Logits& l) { l.keep_top_p(.71); }) == std::vector<Token>{1, 3, 4});
  CHECK(after([](Logits& l) { l.keep_top_p(0); }) == std::vector<Token>{1});
  CHECK(after([](Logits& l) { l.keep_min_p(.3); }) == std::vector<Token>{1, 3, 4});
  CHECK(after([](Logits& l) { l.keep_min_p(1); }) == std::vector<Token>{1});
  CHECK(after([](Logits& l) { l.keep_argmax(); }) == std::vector<Token>{1});
}

TEST_CASE("cuts follow one another on what is left") {
  Logits l(logs({.1F, .4F, .05F, .3F, .15F}));
  l.keep_top(3);     // .4 .3 .15, together .85
  l.keep_top_p(.8);  // .4 + .3 are .82 of it
  CHECK(kept(l) == std::vector<Token>{1, 3});
  CHECK(l.at(4) == -std::numeric_limits<float>::infinity());
  CHECK(l.row().at(1) == Approx(4. / 7).epsilon(1e-6));
  l.ban(1);
  l.keep_argmax();
  CHECK(l.single() == 3);
  CHECK(l.row().is_point());
}

TEST_CASE("top-p keeps the fewest tokens on a wide, flat row") {
  std::vector<float> flat(5000, 0.0F);
  Logits l(flat);
  l.keep_top_p(.5);
  CHECK(l.kept().size() == 2500);
  CHECK(l.kept().back() == 2499);  // ties to the lowest ids
}

TEST_CASE("ties go to the lowest id at temperature 0") {
  Logits l(std::vector<float>{1, 3, 3, 2});
  l.keep_argmax();
  CHECK(l.single() == 1);
}

TEST_CASE("a view edits the caller's buffer; the span shows cut tokens as banned") {
  std::vector<float> buffer{1, 2, 3};
  Logits l{std::span<float>(buffer)};
  l.add(0, 5);
  CHECK(buffer[0] == 6);
  l.keep_top(1);
  CHECK(l.values()[2] == -std::numeric_limits<float>::infinity());
  CHECK(buffer[0] == 6);
}

TEST_CASE("a mask that empties the support keeps the best token it found") {
  Logits l(logs({.4F, .3F, .2F, .1F}));
  apply(Masking({0}), l);           // an earlier mask's word stands
  apply(Masking({0, 1, 2, 3}), l);  // the best it found is 1
  CHECK(l.row().is_point());
  CHECK(l.row().argmax() == 1);
}

TEST_CASE("logits that are no numbers are refused, and edits that would make some") {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
  CHECK_THROWS_WITH(Logits(std::vector<float>{0, nan, nan}),
                    Catch::Contains("value of token 1 is nan (2 such)"));
  CHECK_THROWS_WITH(Logits(std::vector<float>{inf}), Catch::Contains("value of token 0 is inf"));
  Logits l(std::vector<float>{0, 1});
  CHECK_THROWS_WITH(l.set(0, nan), Catch::Contains("set of token 0 to nan"));
  CHECK_THROWS_WITH(l.scale(0), Catch::Contains("must be above 0"));
  CHECK_THROWS_WITH(l.ban(2), "logits: token 2 is not below V = 2");
  l.ban(0), l.ban(1);
  CHECK_THROWS_WITH(l.row(), "logits: every token is banned");
}
