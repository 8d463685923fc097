// SPDX-License-Identifier: Apache-2.0
#include "kv/page_pool.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <set>

#include "redline/error.hpp"

using namespace redline;
using kv::KvShape;
using kv::PageId;
using kv::PagePool;

namespace {
constexpr KvShape kShape{.layers = 2, .kv_heads = 1, .head_size = 8};
}

TEST_CASE("A page holds K and V of 16 tokens for every layer in F16, then their features") {
  CHECK(kShape.layer_bytes() == 2 * 1 * 16 * 8 * 2);
  CHECK(kShape.page_bytes() == 2 * kShape.layer_bytes());
  KvShape tapped = kShape;
  tapped.feature_floats = 3;
  CHECK(tapped.features_offset() == kShape.page_bytes());
  CHECK(tapped.page_bytes() == kShape.page_bytes() + 16 * 3 * 4);
}

TEST_CASE("Every byte of a page is of one slot, and a copied slot takes all of its own along") {
  for (const auto type : {kernels::KvType::F16, kernels::KvType::F32, kernels::KvType::Q8_0}) {
    const KvShape shape{
        .layers = 2, .kv_heads = 2, .head_size = 64, .feature_floats = 3, .type = type};
    std::vector<int> owner(shape.page_bytes(), -1);
    kv::for_each_field(shape, [&](const kernels::KvField& field) {
      for (std::int64_t at = 0; at < field.count * kv::kPageTokens * field.bytes; ++at) {
        REQUIRE(owner[field.offset + at] == -1);
        owner[field.offset + at] = static_cast<int>(at / field.bytes % kv::kPageTokens);
      }
    });
    CHECK(std::ranges::count(owner, -1) == 0);
    PagePool pool(shape, 2);
    std::vector<PageId> out;
    REQUIRE(pool.take(2, out));
    for (std::int64_t i = 0; i < shape.page_bytes(); ++i)
      pool.data(out[0])[i] = static_cast<std::byte>(1 + i * 7 % 251);
    pool.copy_slot({.from_page = out[0], .to_page = out[1], .from = 2, .to = 5});
    std::vector<std::byte> from, to;
    for (std::int64_t i = 0; i < shape.page_bytes(); ++i) {
      if (owner[i] == 2) from.push_back(pool.data(out[0])[i]);
      if (owner[i] == 5) to.push_back(pool.data(out[1])[i]);
      if (owner[i] != 5) REQUIRE(pool.data(out[1])[i] == std::byte{0});
    }
    CHECK(from == to);
  }
}

TEST_CASE(
    "A page takes a scale of 16 bits for 32 elements of Q8_0, and F32 twice the bytes of F16") {
  KvShape shape{.layers = 1, .kv_heads = 2, .head_size = 64};
  const std::int64_t halves = shape.page_bytes();
  shape.type = kernels::KvType::F32;
  CHECK(shape.page_bytes() == 2 * halves);
  shape.type = kernels::KvType::Q8_0;
  CHECK(shape.page_bytes() * 64 == halves * 34);
}

TEST_CASE("Pages go out once, all or nothing") {
  PagePool pool(kShape, 5);
  std::vector<PageId> out;
  CHECK(pool.take(3, out));
  CHECK_FALSE(pool.take(3, out));
  CHECK(out.size() == 3);
  CHECK(pool.available() == 2);
  CHECK(pool.take(2, out));
  CHECK(std::set<PageId>(out.begin(), out.end()).size() == 5);
  CHECK(pool.take(0, out));
  CHECK_FALSE(pool.take(1, out));
}

TEST_CASE("A page that is not out cannot come back") {
  PagePool pool(kShape, 2);
  std::vector<PageId> out;
  pool.take(1, out);
  pool.give_back(out[0]);
  CHECK_THROWS_AS(pool.give_back(out[0]), Error);
  CHECK_THROWS_AS(pool.give_back(2), Error);
  CHECK_THROWS_AS(pool.give_back(-1), Error);
  CHECK(pool.available() == 2);
}

TEST_CASE("A page is free when its last holder gives it back, and no sooner") {
  PagePool pool(kShape, 2, true);
  std::vector<PageId> out;
  pool.take(1, out);
  CHECK(pool.holders(out[0]) == 1);
  pool.retain(out[0]);
  pool.retain(out[0]);
  CHECK(pool.holders(out[0]) == 3);
  std::memset(pool.data(out[0]), 7, kShape.page_bytes());
  pool.give_back(out[0]);
  pool.give_back(out[0]);
  CHECK(pool.available() == 1);
  CHECK(pool.data(out[0])[0] == std::byte{7});
  CHECK(pool.guards_intact());
  pool.give_back(out[0]);
  CHECK(pool.available() == 2);
  CHECK(pool.guards_intact());
  CHECK_THROWS_AS(pool.give_back(out[0]), Error);
}

TEST_CASE("A page that is not out cannot be retained") {
  PagePool pool(kShape, 2);
  std::vector<PageId> out;
  pool.take(1, out);
  CHECK_THROWS_AS(pool.retain(1 - out[0]), Error);
  CHECK_THROWS_AS(pool.retain(2), Error);
  CHECK_THROWS_AS(pool.retain(-1), Error);
  pool.give_back(out[0]);
  CHECK_THROWS_AS(pool.retain(out[0]), Error);
  CHECK(pool.available() == 2);
}

TEST_CASE(
    "A guarded pool sees a write past a page, before the arena, and into a page that is not out") {
  PagePool pool(kShape, 3, true);
  std::vector<PageId> out;
  pool.take(2, out);
  std::memset(pool.data(out[0]), 0, kShape.page_bytes());
  std::memset(pool.data(out[1]), 0, kShape.page_bytes());
  REQUIRE(pool.guards_intact());
  SECTION("past the page") { pool.data(out[0])[kShape.page_bytes()] = std::byte{0}; }
  SECTION("before the arena") { pool.data(0)[-1] = std::byte{0}; }
  SECTION("after the arena") { pool.data(2)[kShape.page_bytes()] = std::byte{0}; }
  SECTION("a page that never went out") { pool.data(2)[7] = std::byte{0}; }
  SECTION("a page that came back") {
    pool.give_back(out[0]);
    REQUIRE(pool.guards_intact());
    pool.data(out[0])[0] = std::byte{0};
  }
  CHECK_FALSE(pool.guards_intact());
}

TEST_CASE("An empty pool gives nothing and a senseless shape is an error") {
  PagePool pool(kShape, 0);
  std::vector<PageId> out;
  CHECK_FALSE(pool.take(1, out));
  CHECK_THROWS_AS(PagePool(KvShape{-1, 1, 8}, 1), Error);
  CHECK_THROWS_AS(PagePool(KvShape{1, 0, 8}, 1), Error);
  CHECK_THROWS_AS(PagePool(KvShape{1, 1, 0}, 1), Error);
  CHECK_THROWS_AS(PagePool(KvShape{1, 1, 8, -1}, 1), Error);
  CHECK_THROWS_AS(PagePool(kShape, -1), Error);
}

TEST_CASE("A head without layers has pages of features, or of nothing") {
  for (const std::int32_t floats : {0, 3}) {
    PagePool pool({.feature_floats = floats}, 2);
    std::vector<PageId> out;
    REQUIRE(pool.take(2, out));
    std::fill_n(pool.data(out[0]), pool.shape().page_bytes(), std::byte{7});
    pool.copy_slot({.from_page = out[0], .to_page = out[1], .from = 2, .to = 5});
    if (floats == 0) continue;
    const std::byte* slot = pool.data(out[1]) + pool.shape().feature_offset(5);
    CHECK(slot[0] == std::byte{7});
    CHECK(slot[11] == std::byte{7});
    CHECK(slot[12] == std::byte{0});
  }
}
