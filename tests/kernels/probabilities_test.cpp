// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/probabilities.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "redline/kernels/philox.hpp"
#include "samples.hpp"

namespace redline::kernels {
namespace {

using namespace samples;

std::vector<double> wide(const std::vector<float>& from) { return {from.begin(), from.end()}; }

// Of softmax's shape, with exact zeros; normalised.
std::vector<double> law(Random& random, std::int64_t vocab, float size) {
  std::vector<double> p = wide(floats(random, vocab, size));
  double sum = 0;
  for (double& x : p) sum += x = random() % 10 == 0 ? 0 : std::exp(x);
  for (double& x : p) x /= sum;
  return p;
}

template <class Weight>
void check_passes(const WeightOps<Weight>& got, const WeightOps<Weight>& want,
                  const std::vector<Weight>& w, const std::vector<double>& q) {
  const std::int64_t count = std::ssize(w);
  std::vector<double> a(w.size()), b(w.size());
  REQUIRE(got.sum(w.data(), count) == want.sum(w.data(), count));
  REQUIRE(got.largest(w.data(), count) == *std::max_element(w.begin(), w.end()));
  got.scale(w.data(), count, .3, a.data());
  want.scale(w.data(), count, .3, b.data());
  REQUIRE(same_bits(a, b));
  REQUIRE(a.back() == static_cast<double>(w.back()) * .3);
  a = b = q;
  REQUIRE(got.clip(w.data(), count, .3, .7, a.data()) ==
          want.clip(w.data(), count, .3, .7, b.data()));
  REQUIRE(same_bits(a, b));
  double sum = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double left = .7 * (static_cast<double>(w[i]) * .3) - q[i];
    REQUIRE(a[i] == std::max(0.0, left));
    sum += a[i];
  }
  REQUIRE(got.clip(w.data(), count, .3, .7, std::vector(q).data()) == Approx(sum).epsilon(1e-12));
}

// The definition, token by token: the least -log(u) / p.
Arrival plain_race(const Noise& noise, const std::vector<double>& p) {
  Arrival best;
  for (std::int64_t t = 0; t < std::ssize(p); ++t) {
    const PhiloxBlock b = philox4x32(
        {noise.counter[0], noise.counter[1], noise.counter[2], static_cast<std::uint32_t>(t / 2)},
        noise.key);
    const std::uint64_t bits = std::uint64_t{b[t % 2 * 2]} << 32 | b[t % 2 * 2 + 1];
    const double u = (static_cast<double>(bits >> 12) + .5) * 0x1p-52, time = -std::log(u) / p[t];
    if (p[t] > 0 && time < best.time) best = {t, time};
  }
  return best;
}

}  // namespace

TEST_CASE("Philox gives the published blocks") {  // Random123, kat_vectors, philox4x32 10
  CHECK(philox4x32({0, 0, 0, 0}, 0) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox4x32({~0U, ~0U, ~0U, ~0U}, ~std::uint64_t{0}) ==
        PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("sums, scaled and clipped weights have the reference's bits at every length") {
  Random random(1);
  for (const std::int64_t count : {1, 7, 8, 9, 31, 1000, 1024, 4099}) {
    std::vector<float> w = floats(random, count);
    for (float& x : w) x = std::abs(x);
    std::vector<double> q = wide(floats(random, count, .2F));
    for (double& x : q) x = std::abs(x);
    for (const Isa isa : supported()) {
      INFO(name(isa) << " count " << count);
      const ProbabilityOps &got = probability_ops(isa), &want = probability_ops(Isa::PORTABLE);
      check_passes(got.floats, want.floats, w, q);
      check_passes(got.doubles, want.doubles, wide(w), q);
    }
  }
}

TEST_CASE("a race is won by the token of its definition, by the same bits on every set") {
  Random random(2);
  std::set<std::int64_t> winners;
  for (const float size : {0.F, 2.F, 8.F})
    for (const std::int64_t vocab : {1, 2, 127, 128, 129, 1001, 20000})
      for (std::uint32_t k = 0; k < 6; ++k) {
        const std::vector<double> p = law(random, vocab, size);
        const Noise noise{{k, 5, static_cast<std::uint32_t>(random())}, random()};
        const Arrival want = plain_race(noise, p);
        const Arrival first = probability_ops(Isa::PORTABLE).race(noise, p.data(), 0, vocab, {});
        winners.insert(first.token);
        for (const Isa isa : supported()) {
          INFO(name(isa) << " vocab " << vocab << " size " << size);
          const Arrival got = probability_ops(isa).race(noise, p.data(), 0, vocab, {});
          REQUIRE(got.token == want.token);
          REQUIRE(got.time == first.time);
          if (got.token >= 0) REQUIRE(got.time == Approx(want.time).epsilon(1e-14));
        }
      }
  REQUIRE(winners.size() > 50);
}

TEST_CASE("a race over parts of a vocabulary is the race over all of it") {
  Random random(3);
  const std::vector<double> p = law(random, 5000, 3);
  for (const Isa isa : supported())
    for (std::uint32_t k = 0; k < 50; ++k) {
      const Noise noise{{k, 0, 0}, 9};
      const ProbabilityOps& ops = probability_ops(isa);
      Arrival best;
      for (std::int64_t begin = 0; begin < 5000; begin += 700)
        best = ops.race(noise, p.data() + begin, begin, std::min<std::int64_t>(700, 5000 - begin),
                        best);
      const Arrival whole = ops.race(noise, p.data(), 0, 5000, {});
      REQUIRE(best.token == whole.token);
      REQUIRE(best.time == whole.time);
    }
}

TEST_CASE("nobody wins a race of tokens that cannot come, or that is won already") {
  const std::vector<double> p(300, 0.0), even(300, 1.0 / 300);
  for (const Isa isa : supported()) {
    const ProbabilityOps& ops = probability_ops(isa);
    REQUIRE(ops.race({{1, 2, 3}, 4}, p.data(), 0, 300, {}).token == -1);
    REQUIRE(ops.race({{1, 2, 3}, 4}, even.data(), 0, 300, {7, 0}).token == 7);
  }
}

}  // namespace redline::kernels
