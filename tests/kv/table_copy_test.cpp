// SPDX-License-Identifier: Apache-2.0
#include "kv/table_copy.hpp"

#include <catch2/catch.hpp>
#include <vector>

#include "kv/prefix_cache.hpp"
#include "redline/error.hpp"
#include "text.hpp"

using namespace redline;
using kv::Cache;
using kv::Lease;
using kv::PagePool;
using kv::SlotCopy;
using kv::SlotIdentity;
using kv::TableCopy;

TEST_CASE("A commit tells each slot it copies, and none that stays") {
  PagePool pool(kv::kIdentityShape, 4, true);
  Cache cache(pool);
  std::vector<SlotCopy> told;
  pool.on_copy([&](const SlotCopy& copy) { told.push_back(copy); });
  auto lease = Lease::reserve(cache, 20);
  REQUIRE(lease);
  lease->commit(std::vector<std::int32_t>{0, 1, 3, 17});
  const auto first = cache.page_ids()[0];
  REQUIRE(told.size() == 2);
  CHECK(told[0] == SlotCopy{first, first, 3, 2});
  CHECK(told[1].to_page == first);
  CHECK(told[1].from_page != first);
  CHECK(told[1].from == 1);
  CHECK(told[1].to == 3);
}

TEST_CASE("A follower that repeats writes and copies holds what rank 0 holds") {
  PagePool pool(kv::kIdentityShape, 8), following(kv::kIdentityShape, 8);
  pool.on_copy([&](const SlotCopy& copy) { following.copy_slot(copy); });
  kv::PrefixCache prefixes(pool);
  TableCopy copy(kv::kIdentityShape);
  kv::Tokens text;
  const auto step = [&](Cache& cache, Token branch) {  // every third row is kept
    auto lease = Lease::reserve(cache, 30);
    REQUIRE(lease);
    copy.set(following, cache.page_ids(), cache.tokens());
    std::vector<std::int32_t> kept;
    for (std::int32_t row = 0; row < 30; ++row) {
      const std::int32_t slot = lease->first_slot() + row;
      std::uint64_t identity = row;  // a rejected one
      if (row % 3 == 1) {
        text.push_back(branch + row);
        identity = kv::identities(text).back();
        kept.push_back(slot);
      }
      SlotIdentity::write(cache, slot, identity);
      SlotIdentity::write(copy, slot, identity);
    }
    lease->commit(kept);
    copy.set(following, cache.page_ids(), cache.tokens());
    CHECK(kv::holds(cache, text));
    CHECK(kv::holds(copy, text));
  };
  Cache cache(pool);
  for (int i = 0; i < 4; ++i) step(cache, 100 * i);
  prefixes.publish(cache, text);
  cache.truncate(19);  // the next step writes into a copy of the second page
  text.resize(19);
  step(cache, 1000);
}

TEST_CASE("A table copy refuses pages and slots that are not there") {
  PagePool pool(kv::kIdentityShape, 2), other({1, 1, 2}, 2);
  TableCopy copy(kv::kIdentityShape);
  const std::vector<kv::PageId> ids{1, 0}, beyond{2}, negative{-1};
  copy.set(pool, ids, 32);
  CHECK(copy.pages()[0] == pool.data(1));
  CHECK_THROWS_AS(copy.set(pool, ids, 33), Error);
  CHECK_THROWS_AS(copy.set(pool, ids, -1), Error);
  CHECK_THROWS_AS(copy.set(pool, beyond, 1), Error);
  CHECK_THROWS_AS(copy.set(pool, negative, 1), Error);
  CHECK_THROWS_AS(copy.set(other, ids, 1), Error);
  CHECK(copy.tokens() == 32);
  for (const SlotCopy& bad :
       {SlotCopy{0, 2, 0, 0}, SlotCopy{-1, 0, 0, 0}, SlotCopy{0, 1, 16, 0}, SlotCopy{0, 1, 0, -1}})
    CHECK_THROWS_AS(pool.copy_slot(bad), Error);
}
