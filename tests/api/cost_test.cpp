// SPDX-License-Identifier: Apache-2.0
#include "redline/cost.hpp"

#include <catch2/catch.hpp>

using redline::CostCurve;

TEST_CASE("Costs lie on straight lines between what was measured, in rows and in context") {
  const CostCurve curve{{{100, 1, 10}, {100, 5, 18}, {300, 1, 20}, {300, 5, 40}}};
  CHECK(curve.ns(1, 100) == Approx(10));
  CHECK(curve.ns(3, 100) == Approx(14));
  CHECK(curve.ns(1, 200) == Approx(15));
  CHECK(curve.ns(3, 200) == Approx(22));
}

TEST_CASE("Below what was measured a cost is that of the least, beyond it the last slope goes on") {
  const CostCurve curve{{{100, 2, 10}, {100, 4, 14}}};
  CHECK(curve.ns(1, 100) == Approx(10));
  CHECK(curve.ns(1, 5) == Approx(10));
  CHECK(curve.ns(10, 5000) == Approx(26));
}

TEST_CASE("What was not measured costs nothing") { CHECK(CostCurve{}.ns(4, 100) == 0); }
