// SPDX-License-Identifier: Apache-2.0
// No page that others hold is written, whatever a step does.
#include <catch2/catch.hpp>
#include <vector>

#include "kv/prefix_cache.hpp"
#include "text.hpp"

using namespace redline;
using kv::Cache;
using kv::feed;
using kv::holds;
using kv::joined;
using kv::Lease;
using kv::PagePool;
using kv::PrefixCache;
using kv::Tokens;
using kv::tokens_from;

namespace {

// Two caches on one prefix of 32 tokens; the first goes on alone.
struct Shared {
  Shared() {
    CHECK(feed(other, prefix));
    prefixes.publish(other, prefix);
    prefixes.restore(cache, joined(prefix, {7}));
  }
  Tokens prefix = tokens_from(0, 32);
  PagePool pool{kv::kIdentityShape, 8, true};
  PrefixCache prefixes{pool};
  Cache other{pool}, cache{pool};
};

}  // namespace

TEST_CASE(
    "A draft rejected across a page border leaves shared pages and the free count as before") {
  Shared s;
  const auto before = s.pool.available();
  for (int i = 0; i < 100; ++i) {
    auto lease = Lease::reserve(s.cache, 5 + i % 40);
    REQUIRE(lease);
    CHECK(lease->first_slot() == 32);
    for (std::int32_t row = 0; row < lease->rows(); ++row)
      kv::SlotIdentity::write(s.cache, 32 + row, 77);
    lease->commit({});
    REQUIRE(s.pool.available() == before);
    REQUIRE(holds(s.other, s.prefix));
    REQUIRE(holds(s.cache, s.prefix));
  }
  CHECK(s.pool.guards_intact());
}

TEST_CASE("A cache cut inside a shared page writes into a copy of it") {
  Shared s;
  const auto shared = s.cache.page_ids()[1];
  s.cache.truncate(21);
  CHECK(s.cache.page_ids()[1] == shared);  // nobody writes yet
  const Tokens cut = tokens_from(0, 21);
  const Tokens text = joined(cut, tokens_from(400, 20));
  REQUIRE(feed(s.cache, text));
  CHECK(s.cache.page_ids()[1] != shared);
  CHECK(s.pool.holders(s.cache.page_ids()[1]) == 1);
  CHECK(holds(s.cache, text));
  CHECK(holds(s.other, s.prefix));
  s.prefixes.publish(s.cache, text);
  CHECK(s.prefixes.pages() == 3);
  s.cache.truncate(21);  // now inside a page of its own that is published
  REQUIRE(feed(s.cache, joined(cut, tokens_from(600, 3))));
  Cache again(s.pool);
  CHECK(s.prefixes.restore(again, text) == 32);
  CHECK(holds(again, Tokens(text.begin(), text.begin() + 32)));
}

TEST_CASE(
    "A cache cut inside a shared page holds the same tokens after a step that is rolled back") {
  Shared s;
  s.cache.truncate(21);
  const auto before = s.pool.obtainable();
  {
    REQUIRE(Lease::reserve(s.cache, 4));
  }
  CHECK(holds(s.cache, tokens_from(0, 21)));
  CHECK(s.pool.obtainable() == before - 1);  // the copy
  {
    REQUIRE(Lease::reserve(s.cache, 4));
  }
  CHECK(s.pool.obtainable() == before - 1);
  s.cache.clear();
  s.other.clear();
  CHECK(s.pool.obtainable() == s.pool.total());
}

TEST_CASE("No lease is given where the copy of a shared page finds no room") {
  PagePool pool(kv::kIdentityShape, 3, true);
  PrefixCache prefixes(pool);
  const Tokens text = tokens_from(0, 16);
  Cache one(pool), two(pool), three(pool);
  REQUIRE(feed(one, text));
  prefixes.publish(one, text);
  prefixes.restore(two, joined(text, {7}));
  two.truncate(9);
  REQUIRE(feed(three, tokens_from(50, 17)));
  CHECK(pool.obtainable() == 0);
  CHECK_FALSE(Lease::reserve(two, 1));
  CHECK(two.page_ids().size() == 1);
  CHECK(Lease::reserve(two, 0));  // nothing to write, nothing to copy
  three.truncate(16);
  auto lease = Lease::reserve(two, 7);
  REQUIRE(lease);
  CHECK_FALSE(lease->extend(1));
  CHECK(two.page_ids()[0] != one.page_ids()[0]);
}
