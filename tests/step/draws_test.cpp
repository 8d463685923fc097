// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "step/draws.hpp"

namespace redline::step {
namespace {

const Row kHalf = Row::dense(std::vector<float>{.5F, .25F, .25F});

// The uniform behind a key, to 2^-30, by bisection over flips.
double uniform(const Key& key) {
  Philox noise;
  double low = 0, high = 1;
  for (int k = 0; k < 30; ++k) {
    const double middle = (low + high) / 2;
    (noise.flip(key, middle) ? high : low) = middle;
  }
  return low;
}

TEST_CASE("Keys that differ in any one field draw other noise, also at their limits") {
  std::set<double> seen;
  std::size_t keys = 0;
  const auto add = [&](const Key& key) { seen.insert(uniform(key)), ++keys; };
  const Key base{3, 4, Stream::DRAFT, 5, 6, 7, 8};
  add(base);
  for (const std::uint64_t v : {0ULL, 1ULL, 1ULL << 32, ~0ULL}) {
    Key k = base;
    k.seed = v, add(k);
    k = base, k.request = v, add(k);
  }
  for (const std::int64_t v : {0LL, 6LL, 1LL << 31, (1LL << 32) - 1}) {
    Key k = base;
    k.position = v, add(k);
    k = base, k.step = static_cast<std::uint32_t>(v + 1), add(k);
  }
  for (const Stream v : {Stream::ACCEPT, Stream::RESIDUAL, Stream::TARGET, Stream::GUMBEL}) {
    Key k = base;
    k.stream = v, add(k);
  }
  for (const int v : {0, 1, 255, 4095}) {
    Key k = base;
    k.draw = v, add(k);
    k = base, k.node = v == 4095 ? 65535 : v, add(k);
  }
  CHECK(seen.size() == keys);
}

TEST_CASE("Noise is uniform: moments of 20000 neighbouring keys") {
  double sum = 0, squares = 0, product = 0, last = 0;
  const int n = 20000;
  for (int k = 0; k < n; ++k) {
    const double u = uniform({1, 2, Stream::ACCEPT, k, 0, 0, 0}) - .5;
    sum += u, squares += u * u, product += u * last, last = u;
  }
  CHECK(std::abs(sum / n) < 4 * std::sqrt(1. / 12 / n));
  CHECK(std::abs(squares / n - 1. / 12) < 4 * std::sqrt(1. / 180 / n));
  CHECK(std::abs(product / n) < 4. / 12 / std::sqrt(n));
}

TEST_CASE("A race is won with the row's probabilities and agrees with another row's as derived") {
  Philox noise;
  const Row p = Row::dense(std::vector<float>{.5F, .3F, .2F, 0}),
            q = Row::dense(std::vector<float>{.2F, .3F, .5F, 0});
  const int n = 200000;
  std::vector<int> wins(4);
  int same = 0;
  for (int k = 0; k < n; ++k) {
    const Key key{1, static_cast<std::uint64_t>(k), Stream::GUMBEL, 9, 0, 0, 0};
    const Token winner = noise.race(key, p);
    ++wins[winner];
    same += winner == noise.race(key, q);
  }
  const double spread = 4 * std::sqrt(.25 / n);
  for (Token t = 0; t < 4; ++t) CHECK(std::abs(wins[t] / double(n) - p.at(t)) < spread);
  CHECK(wins[3] == 0);
  CHECK(std::abs(same / double(n) - 41. / 65) < spread);  // sum_i 1 / sum_j max(p_j/p_i, q_j/q_i)
}

TEST_CASE("A race over a wide row equals the plain definition, argmin of -log u over p") {
  std::vector<float> p(9001);
  double sum = 0;
  for (std::size_t t = 0; t < p.size(); ++t) sum += p[t] = t % 7 == 0 ? 0 : 1.F / float(1 + t % 50);
  for (float& x : p) x = static_cast<float>(x / sum);
  const Row wide = Row::dense(p);
  Philox noise;
  std::set<Token> winners;
  for (std::uint64_t k = 0; k < 50; ++k) {
    const Key key{k, 1, Stream::GUMBEL, 3, 0, 0, 0};
    const Token winner = noise.race(key, wide);
    winners.insert(winner);
    // Raising only the winner's probability cannot make it lose; a loser's removal changes nothing.
    std::vector<float> fewer = p;
    const Token other = (winner + 1) % static_cast<Token>(p.size());
    fewer[other] = 0;
    double left = 0;
    for (const float x : fewer) left += x;
    for (float& x : fewer) x = static_cast<float>(x / left);
    CHECK(noise.race(key, Row::dense(fewer)) == winner);
  }
  CHECK(winners.size() > 40);
  CHECK(noise.race({1, 1, Stream::GUMBEL, 3, 0, 0, 0}, Row::point(9001, 77)) == 77);
}

class Fixture {  // one node drafted below the root
 public:
  explicit Fixture(bool log = true) : draws(noise, {1, 2, 10, 3}, log) {
    draws.propose_for(draft);
    draft.append({kRoot, 1, Law::ROW, kHalf});
  }
  void judge() { draws.judge(draft, p); }
  Philox noise;
  Draft draft{3};
  std::vector<Row> p{kHalf, Row::dense(std::vector<float>{.1F, .1F, .8F})};
  LoggedDraws draws;
};

TEST_CASE("The position's noise is the same in every step and for a draft that shares it") {
  Philox noise;
  const auto sampled = [&](std::uint32_t step, std::int64_t root) {
    LoggedDraws draws(noise, {1, 2, root, step}, false);
    const Draft none(3);
    const std::vector<Row> p{Row::dense(std::vector<float>(64, 1.F / 64))};
    draws.judge(none, p);
    return std::pair{draws.sample(kRoot, p[0]), draws.gumbel_argmax(kRoot, p[0])};
  };
  CHECK(sampled(0, 10) == sampled(9, 10));
  CHECK(sampled(0, 10) != sampled(0, 11));
}

TEST_CASE("Every decision is logged with its stream and the probability of its outcome") {
  Fixture f;
  f.draws.categorical(kRoot, kHalf);
  f.judge();
  const bool passed = f.draws.bernoulli(1, .75);
  const Token t = f.draws.sample(kRoot, f.p[0]);
  const auto& log = f.draws.log();
  REQUIRE(log.size() == 3);
  CHECK(log[0].stream == static_cast<int>(Stream::DRAFT));
  CHECK(f.draws.judged_from() == 1);
  CHECK(log[1].stream == static_cast<int>(Stream::ACCEPT));
  CHECK(log[1].prob == (passed ? .75 : .25));
  CHECK(log[1].node == 1);
  CHECK(log[2].stream == static_cast<int>(Stream::TARGET));
  CHECK(log[2].prob == kHalf.at(t));
  CHECK(log[2].outcome == static_cast<std::uint32_t>(t));
  CHECK(log[2].call == 2);
}

TEST_CASE("No log is kept when none is asked for") {
  Fixture f(false);
  f.judge();
  f.draws.bernoulli(1, .5);
  CHECK(f.draws.log().empty());
}

TEST_CASE("A rule may put the position's noise to p at the node, by handle or by value") {
  Fixture f;
  f.judge();
  CHECK_NOTHROW(f.draws.sample(kRoot, f.p[0]));
  CHECK_NOTHROW(f.draws.gumbel_argmax(1, Row::dense(std::vector<float>{.1F, .1F, .8F})));
  CHECK(f.draws.fault().empty());
}

TEST_CASE("A rule may not put it to a residual, nor to p of another node, nor twice") {
  Fixture residual, other, twice;
  residual.judge(), other.judge(), twice.judge();
  CHECK_THROWS_AS(residual.draws.sample(kRoot, kHalf.residual(Row::point(3, 1))), PluginError);
  CHECK_THROWS_AS(other.draws.gumbel_argmax(kRoot, other.p[1]), PluginError);
  twice.draws.sample(kRoot, twice.p[0]);
  CHECK_THROWS_AS(twice.draws.sample(kRoot, twice.p[0]), PluginError);
  CHECK_FALSE(twice.draws.fault().empty());
  CHECK_THAT(twice.draws.fault(), Catch::Matchers::Contains("position 11"));
}

TEST_CASE("A drafter may not draw the target's noise") {
  Fixture f;
  CHECK_THROWS_AS(f.draws.sample(kRoot, kHalf), PluginError);
}

TEST_CASE("Shared noise may make a COUPLED node or a DELTA, but no node declared ROW") {
  const auto close = [](Law law) {
    Philox noise;
    LoggedDraws draws(noise, {1, 2, 10, 3}, false);
    Draft draft(3);
    draws.propose_for(draft);
    const Token t = draws.gumbel_argmax(kRoot, kHalf);
    draft.append({kRoot, t, law, kHalf});
    draws.close_draft(draft);
  };
  CHECK_NOTHROW(close(Law::COUPLED));
  CHECK_NOTHROW(close(Law::DELTA));
  CHECK_THROWS_AS(close(Law::ROW), PluginError);
}

TEST_CASE("A sibling with a draw of its own may be ROW beside a coupled one") {
  Philox noise;
  LoggedDraws draws(noise, {1, 2, 10, 3}, false);
  Draft draft(3);
  draws.propose_for(draft);
  draft.append({kRoot, draws.gumbel_argmax(kRoot, kHalf), Law::COUPLED, kHalf});
  draft.append({kRoot, draws.categorical(kRoot, kHalf), Law::ROW, kHalf});
  CHECK_NOTHROW(draws.close_draft(draft));
}

TEST_CASE("A script visits every outcome once and its weights sum to 1") {
  Scripted script;
  std::set<std::vector<int>> seen;
  double total = 0;
  const Key any{};
  do {
    script.rewind();
    std::vector<int> run{script.pick(any, kHalf)};
    if (run[0] == 0) run.push_back(script.flip(any, .25));
    CHECK(seen.insert(run).second);
    total += script.weight();
  } while (script.next());
  CHECK(seen.size() == 4);
  CHECK(total == Approx(1).epsilon(1e-12));
}

}  // namespace
}  // namespace redline::step
