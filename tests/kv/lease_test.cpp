// SPDX-License-Identifier: Apache-2.0
#include "kv/lease.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "redline/error.hpp"
#include "slot_identity.hpp"

using namespace redline;
using kv::Cache;
using kv::Lease;
using kv::PagePool;
using kv::SlotIdentity;

namespace {

// Appends `rows` committed tokens that hold their own positions.
void append(Cache& cache, std::int32_t rows) {
  auto lease = Lease::reserve(cache, rows);
  REQUIRE(lease);
  std::vector<std::int32_t> kept(rows);
  std::iota(kept.begin(), kept.end(), lease->first_slot());
  for (const auto slot : kept) SlotIdentity::write(cache, slot, slot);
  lease->commit(kept);
}

std::vector<std::uint64_t> contents(const Cache& cache) {
  std::vector<std::uint64_t> all;
  for (std::int32_t slot = 0; slot < cache.tokens(); ++slot) {
    const auto identity = SlotIdentity::read(cache, slot);
    all.push_back(identity ? *identity : ~std::uint64_t{0});
  }
  return all;
}

}  // namespace

TEST_CASE("A lease that is not committed returns the free count to its prior value") {
  PagePool pool(kv::kIdentityShape, 8, true);
  Cache cache(pool);
  append(cache, 14);
  const auto before = pool.available();
  {
    auto lease = Lease::reserve(cache, 5);  // slots 14..18 cross into a second page
    REQUIRE(lease);
    CHECK(lease->first_slot() == 14);
    CHECK(pool.available() == before - 1);
    CHECK(lease->extend(20));
    CHECK(lease->rows() == 25);
    CHECK(pool.available() == before - 2);
  }
  CHECK(pool.available() == before);
  CHECK(cache.tokens() == 14);
  CHECK(cache.pages().size() == 1);
  CHECK(pool.guards_intact());
}

TEST_CASE("A draft rejected across a page boundary returns the free count to its prior value") {
  PagePool pool(kv::kIdentityShape, 8, true);
  Cache cache(pool);
  append(cache, 15);
  const auto before = pool.available();
  auto lease = Lease::reserve(cache, 6);  // the root fills the page, the draft lies in the next
  REQUIRE(lease);
  CHECK(pool.available() == before - 1);
  lease->commit(std::vector<std::int32_t>{15});
  CHECK(pool.available() == before);
  CHECK(cache.tokens() == 16);
}

TEST_CASE("Root and whole draft lie in reserved pages: 16n - 1 tokens and a draft of 4") {
  PagePool pool(kv::kIdentityShape, 4, true);
  Cache cache(pool);
  append(cache, 31);
  auto lease = Lease::reserve(cache, 1 + 4);
  REQUIRE(lease);
  REQUIRE(cache.pages().size() == 3);
  for (std::int32_t slot = 31; slot < 36; ++slot) SlotIdentity::write(cache, slot, slot);
  CHECK(pool.guards_intact());
  lease->commit(std::vector<std::int32_t>{31, 32});
  CHECK(contents(cache).back() == 32);
  CHECK(pool.guards_intact());
}

TEST_CASE("A commit moves the kept slots right behind the committed tokens, over page borders") {
  PagePool pool(kv::kIdentityShape, 8, true);
  Cache cache(pool);
  append(cache, 13);
  auto lease = Lease::reserve(cache, 40);  // slots 13..52
  REQUIRE(lease);
  for (std::int32_t i = 0; i < 40; ++i) SlotIdentity::write(cache, 13 + i, 1000 + i);
  lease->commit(std::vector<std::int32_t>{13, 15, 20, 31, 33, 52});
  std::vector<std::uint64_t> want(13);
  std::iota(want.begin(), want.end(), 0);
  for (const int i : {0, 2, 7, 18, 20, 39}) want.push_back(1000 + i);
  CHECK(contents(cache) == want);
  CHECK(cache.pages().size() == 2);
  CHECK(pool.available() == 6);
  CHECK(pool.guards_intact());
}

TEST_CASE("A commit of nothing keeps nothing, a thousand times") {
  PagePool pool(kv::kIdentityShape, 4, true);
  Cache cache(pool);
  append(cache, 16);
  for (int i = 0; i < 1000; ++i) {
    auto lease = Lease::reserve(cache, 33);
    REQUIRE(lease);
    lease->commit({});
    REQUIRE(cache.tokens() == 16);
    REQUIRE(pool.available() == 3);
  }
}

TEST_CASE("Too few pages give no lease and take none") {
  PagePool pool(kv::kIdentityShape, 2, true);
  Cache cache(pool);
  CHECK_FALSE(Lease::reserve(cache, 33));
  CHECK(pool.available() == 2);
  auto lease = Lease::reserve(cache, 10);
  REQUIRE(lease);
  CHECK_FALSE(lease->extend(23));
  CHECK(lease->rows() == 10);
  CHECK(lease->extend(22));
  CHECK(pool.available() == 0);
}

TEST_CASE("A slot outside the lease, twice, or out of order cannot be kept") {
  PagePool pool(kv::kIdentityShape, 4, true);
  Cache cache(pool);
  append(cache, 3);
  auto lease = Lease::reserve(cache, 4);  // 3..6
  REQUIRE(lease);
  using Slots = std::vector<std::int32_t>;
  CHECK_THROWS_AS(lease->commit(Slots{2}), Error);
  CHECK_THROWS_AS(lease->commit(Slots{7}), Error);
  CHECK_THROWS_AS(lease->commit(Slots{3, 3}), Error);
  CHECK_THROWS_AS(lease->commit(Slots{4, 3}), Error);
  CHECK(cache.tokens() == 3);
  lease->commit(Slots{3});
  CHECK(cache.tokens() == 4);
  CHECK_THROWS_AS(lease->commit(Slots{}), Error);
  CHECK_THROWS_AS(lease->extend(1), Error);
}

TEST_CASE("A cache has one lease at a time and does not shrink under it") {
  PagePool pool(kv::kIdentityShape, 4, true);
  Cache cache(pool);
  append(cache, 3);
  {
    auto lease = Lease::reserve(cache, 4);
    CHECK_THROWS_AS(Lease::reserve(cache, 1), Error);
    CHECK_THROWS_AS(cache.truncate(1), Error);
    CHECK_THROWS_AS(cache.clear(), Error);
    Lease moved = std::move(*lease);
    lease.reset();  // of what was moved from: nothing ends
    CHECK_THROWS_AS(cache.clear(), Error);
    moved.commit(std::vector<std::int32_t>{3, 4});
  }
  CHECK(cache.tokens() == 5);
  CHECK_THROWS_AS(cache.truncate(6), Error);
  CHECK_THROWS_AS(cache.truncate(-1), Error);
  Cache other = std::move(cache);
  CHECK(other.tokens() == 5);
  CHECK(cache.tokens() == 0);
  other.clear();
  CHECK(pool.available() == 4);
}
