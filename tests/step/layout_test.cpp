// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "kv/cache.hpp"
#include "step/layout.hpp"

namespace redline::step {
namespace {

class Layout {  // of a draft given by its parents, behind 3 committed tokens of which 2 are cached
 public:
  explicit Layout(const std::vector<Node>& parents, std::int32_t committed = 3) {
    Draft draft(100);
    for (std::size_t k = 0; k < parents.size(); ++k)
      draft.append({parents[k], static_cast<Token>(10 + k)});
    std::vector<Token> tokens;
    for (Token t = 1; t <= committed; ++t) tokens.push_back(t);
    root = lay_out(batch, cache, tokens, draft);
  }
  std::vector<std::int32_t> seen(std::int32_t row) const {
    std::vector<std::int32_t> slots;
    for (std::int32_t s = 0; s < batch.rows[row].prefix; ++s) slots.push_back(s);
    slots.insert(slots.end(), batch.tail.begin() + batch.rows[row].tail_begin,
                 batch.tail.begin() + batch.rows[row].tail_end);
    return slots;
  }
  kv::PagePool pool{{1, 1, 2}, 8};
  kv::Cache cache{pool};
  model::Batch batch;
  std::int32_t root = 0;
};
using Slots = std::vector<std::int32_t>;

TEST_CASE("Committed tokens the cache lacks come first and want nothing; the root wants its row") {
  const Layout at({});
  REQUIRE(at.batch.rows.size() == 3);
  CHECK(at.root == 2);
  for (int k = 0; k < 3; ++k) {
    CHECK(at.batch.rows[k].token == k + 1);
    CHECK(at.batch.rows[k].position == k);
    CHECK(at.batch.rows[k].slot == k);
    CHECK(at.batch.rows[k].prefix == k + 1);
    CHECK(at.batch.rows[k].want == (k == 2 ? model::Want::ROW : model::Want::NOTHING));
  }
  CHECK(at.batch.segments.size() == 1);
  CHECK(at.batch.segments[0].row_end == 3);
}

TEST_CASE("A chain is a plain prefix: no row has a tail") {
  const Layout at({0, 1, 2});
  CHECK(at.batch.tail.empty());
  for (int u = 0; u <= 3; ++u) {
    const auto& row = at.batch.rows[at.root + u];
    CHECK(row.position == 2 + u);
    CHECK(row.slot == 2 + u);
    CHECK(row.prefix == 3 + u);
    CHECK(row.want == model::Want::ROW);
  }
}

TEST_CASE("A branch sees the committed text, its ancestors and itself, in position order") {
  const Layout at({0, 0, 1, 2, 3, 4});  // two lines: 1-3-5 and 2-4-6
  CHECK(at.seen(at.root + 1) == Slots{0, 1, 2, 3});
  CHECK(at.seen(at.root + 2) == Slots{0, 1, 2, 4});
  CHECK(at.seen(at.root + 3) == Slots{0, 1, 2, 3, 5});
  CHECK(at.seen(at.root + 5) == Slots{0, 1, 2, 3, 5, 7});
  CHECK(at.seen(at.root + 6) == Slots{0, 1, 2, 4, 6, 8});
  const int positions[] = {2, 3, 3, 4, 4, 5, 5};
  for (int u = 0; u <= 6; ++u) CHECK(at.batch.rows[at.root + u].position == positions[u]);
}

TEST_CASE("The first line of a depth-first tree stays natural") {
  const Layout at({0, 1, 2, 1});
  CHECK(at.batch.rows[at.root + 3].tail_begin == at.batch.rows[at.root + 3].tail_end);
  CHECK(at.seen(at.root + 4) == Slots{0, 1, 2, 3, 6});
}

}  // namespace
}  // namespace redline::step
