// SPDX-License-Identifier: Apache-2.0
// A row's logits and its K and V are the same bits however it is run (contract RI).
#include <catch2/catch.hpp>

#include "replay.hpp"
#include "tiny.hpp"

using namespace redline;
using namespace redline::model;
using files::TensorType;

namespace {

constexpr std::int32_t kPages = 64;

TinySpec spec_of(TensorType type, const char* architecture = "llama") {
  return {.architecture = architecture, .feed_forward = 256, .extra_vocab = 20, .type = type};
}

// A pool whose pages go out in an order that is not theirs.
class ShuffledPool {
 public:
  explicit ShuffledPool(const kv::KvShape& shape) : pool(shape, kPages, true) {
    std::vector<kv::PageId> out;
    pool.take(kPages, out);
    for (std::int32_t i = 0; i < kPages; ++i) pool.give_back(out[i * 37 % kPages]);
  }
  kv::PagePool pool;
};

// The last rows of ids on a tree. The kept slots are committed.
Trail on_tree(Decoder& decoder, kv::PagePool& pool, std::span<const Token> ids, std::int32_t depth,
              std::int32_t decoys) {
  kv::Cache cache(pool);
  Trail trail;
  const auto prefix = ids.size() - static_cast<std::size_t>(depth);
  append_chain(decoder, cache, ids.first(prefix), trail);
  append_tree(decoder, cache, ids.subspan(prefix), decoys, trail);
  keep_stored(cache, trail);
  return trail;
}

// Each chunk stands between chunks of two other sequences.
Trail among_others(Decoder& decoder, kv::PagePool& pool, std::span<const Token> ids,
                   std::size_t chunk) {
  kv::Cache caches[3] = {kv::Cache(pool), kv::Cache(pool), kv::Cache(pool)};
  Trail trail, ignored;
  append_chain(decoder, caches[0], some_ids(11, decoder.vocab(), 7), ignored);
  for (std::size_t at = 0; at < ids.size(); at += chunk) {
    const std::vector<Token> others[] = {some_ids(3, decoder.vocab(), at + 2),
                                         some_ids(1, decoder.vocab(), at + 3)};
    const std::span<const Token> parts[] = {
        others[0], ids.subspan(at, std::min(chunk, ids.size() - at)), others[1]};
    Batch batch;
    std::vector<kv::Lease> leases;
    for (int i = 0; i < 3; ++i) {
      leases.push_back(*kv::Lease::reserve(caches[i], static_cast<std::int32_t>(parts[i].size())));
      const auto rows = chain_rows(parts[i], leases[i].first_slot());
      const auto begin = static_cast<std::int32_t>(batch.rows.size());
      batch.rows.insert(batch.rows.end(), rows.begin(), rows.end());
      batch.segments.push_back({&caches[i], begin, static_cast<std::int32_t>(batch.rows.size())});
    }
    keep_logits(decoder.forward(batch), 3, parts[1].size(), trail);
    for (kv::Lease& lease : leases) {
      std::vector<std::int32_t> slots(lease.rows());
      std::iota(slots.begin(), slots.end(), lease.first_slot());
      lease.commit(slots);
    }
  }
  keep_stored(caches[1], trail);
  return trail;
}

}  // namespace

TEST_CASE("Bits do not depend on rows a forward, instruction set or threads") {
  const auto type = GENERATE(TensorType::F16, TensorType::Q4_1, TensorType::Q5_0, TensorType::Q8_0,
                             TensorType::Q4_K, TensorType::Q5_K, TensorType::Q6_K);
  const TinyFile file(spec_of(type, type == TensorType::Q5_0 ? "qwen2" : "llama"));
  TinyDecoder plain(file, kernels::Isa::PORTABLE);
  kv::PagePool pool(plain->kv_shape(), kPages);
  const auto ids = some_ids(66, plain->vocab());
  const Trail expected = in_chunks(*plain, pool, ids, 1);
  for (const kernels::Isa isa : kernels::supported())
    for (const int threads : {1, 2, 3}) {
      TinyDecoder decoder(file, isa, threads);
      for (const std::size_t rows : {1, 2, 3, 5, 8, 16, 33, 65}) {
        const bool is_slow = threads > 1 || isa == kernels::Isa::PORTABLE;
        if (is_slow && rows != 3 && rows != 33) continue;
        CAPTURE(static_cast<int>(type), kernels::name(isa), threads, rows);
        CHECK(in_chunks(*decoder, pool, ids, rows) == expected);
      }
    }
}

TEST_CASE("Bits do not depend on page layout, neighbours or a place on a tree") {
  const auto isa = GENERATE(from_range(kernels::supported()));
  const TinyFile file(spec_of(TensorType::Q4_K));
  TinyDecoder decoder(file, isa, 2);
  kv::PagePool pool(decoder->kv_shape(), kPages, true);
  const auto ids = some_ids(50, decoder->vocab());
  const Trail expected = in_chunks(*decoder, pool, ids, 1);
  CAPTURE(kernels::name(isa));
  SECTION("pages out of order") {
    ShuffledPool shuffled(decoder->kv_shape());
    kv::Cache hole(shuffled.pool);
    CHECK(in_chunks(*decoder, shuffled.pool, ids, 7) == expected);
    CHECK(shuffled.pool.guards_intact());
  }
  SECTION("among the rows of other sequences") {
    for (const std::size_t chunk : {1, 4, 17})
      CHECK(among_others(*decoder, pool, ids, chunk) == expected);
  }
  SECTION("a chain seen through the tail") {
    for (const int depth : {1, 2, 5, 16, 33})
      CHECK(on_tree(*decoder, pool, ids, depth, 0) == expected);
  }
  SECTION("a branch of a tree; its KV after commit equals a fresh replay") {
    for (const int depth : {1, 2, 5, 16}) CHECK(on_tree(*decoder, pool, ids, depth, 2) == expected);
  }
  CHECK(pool.guards_intact());
  CHECK(pool.available() == kPages);
}

TEST_CASE("Bits of KV in any type do not depend on rows, instruction set, threads or a tree") {
  const auto type = GENERATE(kernels::KvType::F16, kernels::KvType::F32, kernels::KvType::Q8_0);
  const TinyFile file(spec_of(TensorType::Q4_K));
  TinyDecoder plain(file, kernels::Isa::PORTABLE, 1, {}, type);
  kv::PagePool pool(plain->kv_shape(), kPages, true);
  const auto ids = some_ids(66, plain->vocab());
  const Trail expected = in_chunks(*plain, pool, ids, 1);
  for (const kernels::Isa isa : kernels::supported()) {
    CAPTURE(kernels::name(type), kernels::name(isa));
    TinyDecoder decoder(file, isa, 2, {}, type);
    for (const std::size_t rows : {3, 33}) CHECK(in_chunks(*decoder, pool, ids, rows) == expected);
    CHECK(among_others(*decoder, pool, ids, 4) == expected);
    for (const int depth : {1, 5, 16}) CHECK(on_tree(*decoder, pool, ids, depth, 2) == expected);
  }
  CHECK(pool.guards_intact());
}

TEST_CASE("A prefix that is computed again gives the same bits behind it") {
  const TinyFile file(spec_of(TensorType::Q6_K, "qwen2"));
  TinyDecoder decoder(file, kernels::best(), 2);
  kv::PagePool pool(decoder->kv_shape(), kPages, true);
  const auto ids = some_ids(40, decoder->vocab());
  kv::Cache cache(pool);
  Trail trail;
  append_chain(*decoder, cache, ids, trail);
  cache.truncate(21);
  trail.logits.resize(21);
  append_chain(*decoder, cache, std::span(ids).subspan(21), trail);
  keep_stored(cache, trail);
  CHECK(trail == in_chunks(*decoder, pool, ids, 9));
}
