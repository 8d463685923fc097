// SPDX-License-Identifier: Apache-2.0
#include "experiment/bootstrap.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace redline::experiment;

namespace {

// Requests of unlike lengths, whose own rates scatter around `rate`; the second cell's stand `more`
// above those of the same request in the first.
struct Trial {
  std::vector<Part> of, to;
};
Trial trial(std::mt19937& random, double rate, double more) {
  std::uniform_int_distribution<int> steps(10, 60);
  std::normal_distribution<double> easy(0, .5), chance(0, .2);
  Trial t;
  for (int i = 0; i < 40; ++i) {
    const double prompt = easy(random);
    const double n = steps(random), m = steps(random);
    t.to.push_back({n * (rate + prompt + chance(random)), n});
    t.of.push_back({m * (rate + prompt + more + chance(random)), m});
  }
  return t;
}

}  // namespace

TEST_CASE("A mean is a ratio of sums, not a mean of ratios") {
  CHECK(ratio_of_sums(std::vector<Part>{{1, 1}, {6, 3}}) == Approx(7. / 4));
  CHECK(std::isnan(ratio_of_sums(std::vector<Part>{{0, 0}})));
}

TEST_CASE("An interval is exact where all resamples can be counted") {
  // Two requests: a resample is 1, 2 or their pool with chances 1/4, 1/4, 1/2.
  const Estimate two = mean_estimate(std::vector<Part>{{1, 1}, {6, 3}});
  CHECK(two.value == Approx(7. / 4));
  CHECK(two.low == 1);
  CHECK(two.high == 2);
  CHECK(two.p == Approx(0).margin(2. / kResamples));
  const Estimate same = mean_estimate(std::vector<Part>{{2, 1}, {2, 1}, {4, 2}});
  CHECK(same.low == 2);
  CHECK(same.high == 2);
}

TEST_CASE("Requests are resampled in pairs: what a prompt adds to both cells cancels") {
  std::vector<Part> of, to;
  for (int i = 0; i < 20; ++i) to.push_back({10. * i, 10}), of.push_back({10. * i + 1, 10});
  const Estimate difference = paired_difference(of, to);
  CHECK(difference.value == Approx(.1));
  CHECK(difference.low == Approx(.1));
  CHECK(difference.high == Approx(.1));
  CHECK(difference.excludes_zero());
}

TEST_CASE("One request, and equal cells, tell nothing apart") {
  const std::vector<Part> one{{3, 2}}, many{{3, 2}, {1, 1}, {5, 4}};
  CHECK(!mean_estimate(one).excludes_zero());
  CHECK(!paired_difference(many, many).excludes_zero());
  CHECK(paired_difference(many, many).p == 1);
}

TEST_CASE("A 95 % interval holds the true difference in about 95 of 100 trials") {
  std::mt19937 random(11);
  constexpr int kTrials = 300;
  int held = 0;
  for (int i = 0; i < kTrials; ++i) {
    const Trial t = trial(random, 2, .1);
    const Estimate e = paired_difference(t.of, t.to);
    held += e.low <= .1 && .1 <= e.high;
  }
  CHECK(held >= .91 * kTrials);
  CHECK(held <= .98 * kTrials);
}

TEST_CASE("Holm lets a claim stand only beside those that are surer") {
  CHECK(holm(std::vector<double>{.01, .04, .03}) == std::vector<bool>{true, false, false});
  CHECK(holm(std::vector<double>{.04}) == std::vector<bool>{true});
  CHECK(holm(std::vector<double>{.03, .03}) == std::vector<bool>{false, false});
  CHECK(holm(std::vector<double>{.01, .02, .2}) == std::vector<bool>{true, true, false});
  CHECK(holm({}).empty());
}
