// SPDX-License-Identifier: Apache-2.0
// A batch that breaks a limit is an error before anything is computed.
#include <catch2/catch.hpp>

#include "redline/error.hpp"
#include "replay.hpp"
#include "tiny.hpp"

using namespace redline;
using namespace redline::model;

TEST_CASE("A batch that breaks a limit is an error that names row and limit") {
  const TinyFile file(TinySpec{});
  TinyDecoder decoder(file);
  kv::PagePool pool(decoder->kv_shape(), 20, true);
  kv::Cache cache(pool);
  Trail trail;
  append_chain(*decoder, cache, some_ids(20, decoder->vocab()), trail);
  const auto lease = kv::Lease::reserve(cache, 4);
  const auto ids = some_ids(4, decoder->vocab());
  Batch batch{.rows = chain_rows(ids, 20), .tail = {}, .segments = {{&cache, 0, 4}}, .taps = {}};
  REQUIRE_NOTHROW(decoder->forward(batch));
  std::string fact;
  SECTION("a token outside the vocabulary") {
    batch.rows[2].token = decoder->vocab(), fact = "row 2: token 323 is not in [0, 323)";
  }
  SECTION("a negative token") { batch.rows[0].token = -1, fact = "token -1"; }
  SECTION("a position past the rope table") {
    batch.rows[0].position = decoder->context(), fact = "position 256 is not in [0, 256)";
  }
  SECTION("a slot that is committed") {
    batch.rows[0].slot = 19, batch.rows[0].prefix = 20, batch.rows[0].position = 19;
    fact = "slot 19 is not in [20, 32)";
  }
  SECTION("a slot past the pages") {
    batch.rows[0].slot = 32, batch.rows[0].prefix = 33, fact = "slot 32 is not in [20, 32)";
  }
  SECTION("a prefix past the pages") { batch.rows[1].prefix = 33, fact = "prefix 33 of 32 slots"; }
  SECTION("more seen than the position says") {
    batch.rows[1].position = 20, fact = "at position 20 sees 22 slots, expected 21";
  }
  SECTION("its own slot is not the last seen") {
    batch.rows[1].slot = 20, fact = "the last slot it sees is 21, its own is 20";
  }
  SECTION("a tail outside the list") {
    batch.rows[1].tail_end = 1, fact = "tail [0, 1) of 0 entries";
  }
  SECTION("a tail slot outside the pages") {
    batch.tail = {99}, batch.rows[0].prefix = 20, batch.rows[0].tail_end = 1;
    fact = "tail slot 99 is not in [0, 32)";
  }
  SECTION("a segment with a gap") {
    batch.segments[0].row_begin = 1, fact = "segment of rows [1, 4), the next row is 0 of 4";
  }
  SECTION("rows of no segment") {
    batch.segments[0].row_end = 3, fact = "segments cover 3 of 4 rows";
  }
  SECTION("too many rows") { batch.rows.resize(97), fact = "97 rows, the widest is 96"; }
  CHECK_THROWS_AS(decoder->forward(batch), Error);
  CHECK_THROWS_WITH(decoder->forward(batch), Catch::Contains(fact));
  CHECK(pool.guards_intact());
}

TEST_CASE("A batch of no rows, and one that wants nothing, give nothing") {
  const TinyFile file(TinySpec{});
  TinyDecoder decoder(file);
  CHECK(decoder->forward({}).logits.empty());
  kv::PagePool pool(decoder->kv_shape(), 4);
  kv::Cache cache(pool);
  const auto lease = kv::Lease::reserve(cache, 2);
  Batch batch{.rows = chain_rows(some_ids(2, decoder->vocab()), 0),
              .tail = {},
              .segments = {{&cache, 0, 2}},
              .taps = {}};
  for (model::Row& row : batch.rows) row.want = Want::NOTHING;
  const Output& output = decoder->forward(batch);
  CHECK(output.logits.size() == 2);
  CHECK(output.logits[1].empty());
}

TEST_CASE("A cache of another model's shape is an error") {
  const TinyFile file(TinySpec{});
  TinyDecoder decoder(file);
  kv::PagePool pool({.layers = 3, .kv_heads = 2, .head_size = 64}, 4);
  kv::Cache cache(pool);
  const auto lease = kv::Lease::reserve(cache, 1);
  const Batch batch{
      .rows = chain_rows(some_ids(1, 9), 0), .tail = {}, .segments = {{&cache, 0, 1}}, .taps = {}};
  CHECK_THROWS_WITH(decoder->forward(batch), Catch::Contains("another model's shape"));
}
