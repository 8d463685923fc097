// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "math64.hpp"
#include "redline/kernels/isa.hpp"
#include "reference/lanes.hpp"

namespace redline::kernels {

TEST_CASE("exp32 is within two units in the last place, zero far below, NaN for NaN") {
  for (float x = -87; x < 88; x += 0.00137f) {
    const double exact = std::exp(double{x}), unit = std::ldexp(1, std::ilogb(exact) - 23);
    REQUIRE(std::abs(exp32(x) - exact) <= 2 * unit);
  }
  REQUIRE(exp32(0) == 1.0f);
  REQUIRE(exp32(-87.5f) == 0.0f);
  REQUIRE(exp32(-std::numeric_limits<float>::infinity()) == 0.0f);
  REQUIRE(std::isfinite(exp32(std::numeric_limits<float>::infinity())));
  REQUIRE(std::isnan(exp32(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("log, exp, sine and cosine in float64 agree with the platform's") {
  for (double x = 1e-300; x < 1e300; x *= 1.7e3)
    REQUIRE(log64(x) == Approx(std::log(x)).epsilon(4e-16).margin(1e-16));
  for (double x = 0.5; x < 2; x += 0.0101)
    REQUIRE(log64(x) == Approx(std::log(x)).epsilon(1e-15).margin(1e-16));
  REQUIRE(std::isnan(log64(0)));
  REQUIRE(std::isnan(log64(-1)));
  for (double x = -40; x < 40; x += 0.11) REQUIRE(exp64(x) == Approx(std::exp(x)).epsilon(2e-15));
  for (double x = -8; x < 200000; x += 0.1 + std::abs(x) * 0.01) {
    REQUIRE(std::abs(sincos64(x).sin - std::sin(x)) < 4e-16);
    REQUIRE(std::abs(sincos64(x).cos - std::cos(x)) < 4e-16);
  }
}

TEST_CASE("instruction sets have names that can be read back, and portable is always there") {
  for (Isa isa : kIsas) REQUIRE(isa_from(name(isa)) == isa);
  REQUIRE(!isa_from("sse"));
  REQUIRE(supported().front() == Isa::PORTABLE);
  REQUIRE(best() == supported().back());
}

}  // namespace redline::kernels
