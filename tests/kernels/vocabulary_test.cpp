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

bool is_nan(const Spread& spread) {
  return std::isnan(spread.log_sum_exp) && std::isnan(spread.entropy);
}

}  // namespace

TEST_CASE("reductions over a vocabulary give the reference's bits at every length") {
  Random random(1);
  for (std::int64_t vocab : {1, 2, 15, 16, 17, 31, 1000, 49152, 151936, 151937}) {
    for (float size : {0.1f, 3.0f, 200.0f}) {
      std::vector<float> logits = floats(random, vocab, size);
      for (int i = 0; i < vocab / 10; ++i) logits[random() % logits.size()] = -kInfinity;
      std::vector<float> want(logits.size()), got(logits.size());
      const Spread plain = ops(Isa::PORTABLE).softmax(logits.data(), vocab, want.data());
      for (Isa isa : supported()) {
        INFO(name(isa) << " vocab " << vocab << " size " << size);
        const Spread beside = ops(isa).softmax(logits.data(), vocab, got.data()),
                     alone = ops(isa).spread(logits.data(), vocab);
        REQUIRE(same_bits(got, want));
        for (const Spread& spread : {beside, alone}) {
          REQUIRE(spread.log_sum_exp == plain.log_sum_exp);
          REQUIRE(spread.entropy == plain.entropy);
        }
        REQUIRE(ops(isa).argmax(logits.data(), vocab) ==
                std::max_element(logits.begin(), logits.end()) - logits.begin());
      }
    }
  }
}

TEST_CASE("softmax, log-sum-exp and entropy agree with float64") {
  Random random(2);
  std::vector<float> logits = floats(random, 151936, 4), p(logits.size());
  logits[7] = -kInfinity;
  double total = 0, weighted = 0;
  for (float logit : logits) {
    const double weight = std::exp(double{logit});
    total += weight;
    weighted += weight > 0 ? weight * logit : 0;
  }
  const Ops& table = ops(Isa::PORTABLE);
  const Spread spread = table.softmax(logits.data(), 151936, p.data());
  REQUIRE(spread.log_sum_exp == Approx(std::log(total)).epsilon(1e-8));
  REQUIRE(spread.entropy == Approx(std::log(total) - weighted / total).epsilon(1e-7));
  for (std::size_t i = 0; i < p.size(); ++i)
    REQUIRE(p[i] ==
            Approx(std::exp(double{logits[i]}) / total).epsilon(5e-6));  // logit - max rounds
  REQUIRE(p[7] == 0.0f);
}

TEST_CASE("a NaN anywhere, or no finite logit, makes softmax and the spread NaN") {
  for (Isa isa : supported()) {
    for (std::size_t bad : {0u, 5u, 16u, 36u}) {
      std::vector<float> logits(37, 1.0f), p(37);
      logits[bad] = kNan;
      REQUIRE(is_nan(ops(isa).softmax(logits.data(), 37, p.data())));
      REQUIRE(is_nan(ops(isa).spread(logits.data(), 37)));
    }
    for (float all : {-kInfinity, kInfinity}) {
      std::vector<float> logits(20, all), p(20);
      REQUIRE(is_nan(ops(isa).softmax(logits.data(), 20, p.data())));
      REQUIRE(is_nan(ops(isa).spread(logits.data(), 20)));
    }
  }
}

TEST_CASE("block maxima are the greatest of each 64, and say whether all are below infinity") {
  Random random(3);
  for (Isa isa : supported())
    for (std::int64_t vocab : {1, 17, 64, 65, 127, 1000}) {
      INFO(name(isa) << " vocab " << vocab);
      std::vector<float> logits = floats(random, vocab, 3);
      std::vector<float> maxima((vocab + kMaximaBlock - 1) / kMaximaBlock);
      const auto last = static_cast<std::size_t>(vocab - 1);
      logits[last] = -kInfinity;
      REQUIRE(ops(isa).block_maxima(logits.data(), vocab, maxima.data()));
      for (std::size_t b = 0; b < maxima.size(); ++b) {
        const auto first = logits.begin() + static_cast<std::ptrdiff_t>(b * kMaximaBlock);
        const auto end = std::min(first + kMaximaBlock, logits.end());
        REQUIRE(maxima[b] == *std::max_element(first, end));
      }
      for (float bad : {kNan, kInfinity}) {
        logits[last] = bad;
        REQUIRE_FALSE(ops(isa).block_maxima(logits.data(), vocab, maxima.data()));
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
