// SPDX-License-Identifier: Apache-2.0
#include "redline/draft.hpp"

#include <catch2/catch.hpp>

using redline::Draft, redline::Law, redline::Node, redline::Row;

namespace {
const Row kRow = Row::dense(std::vector<float>{.1F, .2F, .3F, .4F});
}

TEST_CASE("a draft knows its shape") {
  Draft d(4);
  const Node a = d.append({0, 1}), b = d.append({0, 2}), c = d.append({a, 3});
  CHECK(d.size() == 3);
  CHECK(d.height() == 2);
  CHECK(d.first_child(0) == a);
  CHECK(d.next_sibling(a) == b);
  CHECK(d.child(a, 3) == c);
  CHECK(d.child(a, 0) == redline::kNone);
  CHECK(d.path(c) == redline::List<redline::Token>{1, 3});
  CHECK_FALSE(d.is_chain());
  CHECK(Draft(4).is_chain());
}

TEST_CASE("the law of a node is read in one place") {
  Draft d(4);
  const Node delta = d.append({0, 2, Law::DELTA, kRow});
  const Node coupled = d.append({delta, 1, Law::COUPLED, kRow});
  const Node row = d.append({coupled, 0, Law::ROW, kRow});
  CHECK(d.q(delta).at(2) == 1);
  CHECK(d.q(coupled).at(1) == 1);
  CHECK(d.q(row).same_as(kRow));
  const Node first = d.append({row, 3, Law::ROW, kRow, redline::EXCLUDE_EARLIER_SIBLINGS});
  const Node second = d.append({row, 2, Law::ROW, kRow, redline::EXCLUDE_EARLIER_SIBLINGS});
  CHECK(d.q(first).at(3) == Approx(.4));
  CHECK(d.q(second).at(3) == 0);
  CHECK(d.q(second).at(2) == Approx(.5));
}

TEST_CASE("forgetting the laws merges twins with what grew below them") {
  Draft d(4);
  const Node a = d.append({0, 1, Law::ROW, kRow}), b = d.append({0, 1, Law::ROW, kRow});
  d.append({a, 2, Law::ROW, kRow});
  d.append({b, 3, Law::ROW, kRow});
  const Draft deltas = d.as_deltas();
  CHECK(deltas.size() == 3);
  CHECK(deltas.child(deltas.child(0, 1), 3) != redline::kNone);
  for (Node n = 1; n <= deltas.size(); ++n) CHECK(deltas.item(n).law == Law::DELTA);
}

TEST_CASE("a malformed node is refused by number") {
  Draft d(4);
  d.append({0, 1});
  CHECK_THROWS_WITH(d.append({2, 1}), "draft node 2: parent 2 must precede it");
  CHECK_THROWS_WITH(d.append({0, 4}), Catch::Contains("token 4 is not below V"));
  CHECK_THROWS_WITH(d.append({0, 2, Law::ROW}), "draft node 2: law ROW needs its row");
  CHECK_THROWS_WITH(d.append({0, 1}), Catch::Contains("twin of node 1; merge deltas"));
  CHECK_THROWS_WITH(d.append({0, 2, Law::ROW, Row::point(5, 0)}), Catch::Contains("differ in V"));
}
