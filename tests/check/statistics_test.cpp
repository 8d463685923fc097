// SPDX-License-Identifier: Apache-2.0
// Distribution functions against tables.
#include "check/statistics.hpp"

#include <catch2/catch.hpp>
#include <cmath>

namespace redline::check {
namespace {

TEST_CASE("Tails of the normal law are as tabled") {
  CHECK(normal_tails(0) == Approx(1));
  CHECK(normal_tails(1.959964) == Approx(.05).epsilon(1e-6));
  CHECK(normal_tails(-4.891638) == Approx(1e-6).epsilon(1e-5));
  CHECK(normal_quantile(.5) == Approx(0).margin(1e-9));
  CHECK(normal_quantile(.99) == Approx(2.326348).epsilon(1e-6));
  CHECK(normal_quantile(.0005) == Approx(-3.290527).epsilon(1e-6));
}

TEST_CASE("Tails of the chi-square law are as tabled") {
  CHECK(chi_square_tail(7.814728, 3) == Approx(.05).epsilon(1e-6));
  CHECK(chi_square_tail(16.266236, 3) == Approx(.001).epsilon(1e-6));
  CHECK(chi_square_tail(82.528727, 63) == Approx(.05).epsilon(1e-6));
  CHECK(chi_square_tail(3, 2) == Approx(std::exp(-1.5)));
  CHECK(chi_square_tail(60, 4) == Approx(std::exp(-30.) * 31));
  CHECK(chi_square_tail(0, 3) == 1);
}

TEST_CASE("A test's reach is as tabled") {
  // Of size 1e-4, power .99 and size 1e-6, power .999, by degrees of freedom
  CHECK(detectable_noncentrality(3, 1e-4, .99) == Approx(45.441).epsilon(1e-4));
  CHECK(detectable_noncentrality(15, 1e-4, .99) == Approx(64.307).epsilon(1e-4));
  CHECK(detectable_noncentrality(63, 1e-4, .99) == Approx(99.661).epsilon(1e-4));
  CHECK(detectable_noncentrality(255, 1e-4, .99) == Approx(168.951).epsilon(1e-4));
  CHECK(detectable_noncentrality(3, 1e-6, .999) == Approx(71.952).epsilon(1e-4));
  CHECK(detectable_noncentrality(63, 1e-6, .999) == Approx(141.588).epsilon(1e-4));
}

TEST_CASE("Kolmogorov's law is as tabled") {
  const double n = 1e12;  // the limit law
  CHECK(kolmogorov_tail(1.3581e-6, n) == Approx(.05).epsilon(1e-3));
  CHECK(kolmogorov_tail(1.6276e-6, n) == Approx(.01).epsilon(1e-3));
  CHECK(kolmogorov_tail(0, 100) == 1);
}

TEST_CASE("Holm multiplies the smallest by all, and never falls") {
  const std::vector<double> p{.01, .04, .03, .9};
  const std::vector<double> adjusted = holm(p);
  CHECK(adjusted[0] == Approx(.04));
  CHECK(adjusted[2] == Approx(.09));
  CHECK(adjusted[1] == Approx(.09));  // .08 alone
  CHECK(adjusted[3] == Approx(.9));
  CHECK(holm(std::vector<double>{}).empty());
}

}  // namespace
}  // namespace redline::check
