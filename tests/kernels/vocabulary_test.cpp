// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "samples.hpp"

namespace redline::kernels {
namespace {

using namespace samples;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("softmax, log_sum_exp and argmax give the reference's bits at every length") {
  Random random(1);
  for (std::int64_t vocab : {1, 2, 15, 16, 17, 31, 1000, 49152, 151936, 151937}) {
    for (float size : {0.1f, 3.0f, 200.0f}) {
      std::vector<float> logits = floats(random, vocab, size);
      for (int i = 0; i < vocab / 10; ++i) logits[random() % logits.size()] = -kInfinity;
      std::vector<float> want(logits.size()), got(logits.size());
      const double total = ops(Isa::PORTABLE).softmax(logits.data(), vocab, want.data());
      for (Isa isa : supported()) {
        INFO(name(isa) << " vocab " << vocab << " size " << size);
        REQUIRE(ops(isa).softmax(logits.data(), vocab, got.data()) == total);
        REQUIRE(same_bits(got, want));
        REQUIRE(ops(isa).log_sum_exp(logits.data(), vocab) ==
                ops(Isa::PORTABLE).log_sum_exp(logits.data(), vocab));
        REQUIRE(ops(isa).argmax(logits.data(), vocab) ==
                std::max_element(logits.begin(), logits.end()) - logits.begin());
      }
    }
  }
}

TEST_CASE("softmax and log_sum_exp agree with float64") {
  Random random(2);
  std::vector<float> logits = floats(random, 151936, 4), p(logits.size());
  logits[7] = -kInfinity;
  double total = 0;
  for (float logit : logits) total += std::exp(double{logit});
  const Ops& table = ops(Isa::PORTABLE);
  REQUIRE(table.softmax(logits.data(), 151936, p.data()) == Approx(1).epsilon(1e-6));
  REQUIRE(table.log_sum_exp(logits.data(), 151936) == Approx(std::log(total)).epsilon(1e-8));
  for (std::size_t i = 0; i < p.size(); ++i)
    REQUIRE(p[i] ==
            Approx(std::exp(double{logits[i]}) / total).epsilon(5e-6));  // logit - max rounds
  REQUIRE(p[7] == 0.0f);
}

TEST_CASE("a NaN anywhere, or no finite logit, makes softmax and log_sum_exp NaN") {
  for (Isa isa : supported()) {
    for (std::size_t bad : {0u, 5u, 16u, 36u}) {
      std::vector<float> logits(37, 1.0f), p(37);
      logits[bad] = kNan;
      REQUIRE(std::isnan(ops(isa).softmax(logits.data(), 37, p.data())));
      REQUIRE(std::isnan(ops(isa).log_sum_exp(logits.data(), 37)));
    }
    for (float all : {-kInfinity, kInfinity}) {
      std::vector<float> logits(20, all), p(20);
      REQUIRE(std::isnan(ops(isa).softmax(logits.data(), 20, p.data())));
      REQUIRE(std::isnan(ops(isa).log_sum_exp(logits.data(), 20)));
    }
  }
}

TEST_CASE("argmax takes the lowest id of a tie and passes over NaNs") {
  for (Isa isa : supported()) {
    const auto argmax = [&](std::vector<float> logits) {
      return ops(isa).argmax(logits.data(), std::ssize(logits));
    };
    std::vector<float> logits(100, -1.0f);
    logits[90] = logits[50] = logits[77] = 2.0f;
    REQUIRE(argmax(logits) == 50);
    logits[3] = kNan;
    REQUIRE(argmax(logits) == 50);
    REQUIRE(argmax(std::vector<float>(33, -kInfinity)) == 0);
    REQUIRE(argmax({kNan, -kInfinity, -0.0f, 0.0f}) == 2);
    REQUIRE(argmax({kNan, kNan}) == 0);
  }
}

}  // namespace redline::kernels
