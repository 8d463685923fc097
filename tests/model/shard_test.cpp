// SPDX-License-Identifier: Apache-2.0
// A model in shards computes what the whole model computes.
#include "model/shard.hpp"

#include <catch2/catch.hpp>

#include "redline/error.hpp"
#include "sharded.hpp"

using namespace redline;
using namespace redline::model;
using Catch::Matchers::Contains;
using files::TensorType;

namespace {

struct Heads {
  std::int32_t heads, kv_heads, head_size, feed_forward;
};

TinySpec spec_of(const Heads& of, TensorType type, const char* architecture = "llama") {
  TinySpec spec{.architecture = architecture, .type = type};
  spec.heads = of.heads, spec.kv_heads = of.kv_heads, spec.hidden = of.heads * of.head_size;
  spec.feed_forward = of.feed_forward, spec.extra_vocab = 20;
  return spec;
}

// Sums are cut in other places: float rounding, no more, for float weights. Activations of 8 bits
// share a scale over 32 inputs, over 128 for K-quants whose shards lie between multiples of 128.
constexpr double kFloatTolerance = 1e-4, kInt8Tolerance = 0.03;

void check_degree(const TinySpec& spec, int degree) {
  CAPTURE(spec.heads, spec.kv_heads, spec.feed_forward, static_cast<int>(spec.type), degree);
  const TinyFile file(spec);
  const auto ids = some_ids(23, 256);
  const Trail whole = sharded(file, 1, ids, 23).front();
  const std::vector<Trail> shards = sharded(file, degree, ids, 1);
  CHECK(relative_error(shards[0], whole) <
        (spec.type <= TensorType::F16 ? kFloatTolerance : kInt8Tolerance));
  for (std::size_t rank = 1; rank < shards.size(); ++rank)
    for (const auto& row : shards[rank].logits) CHECK(row.empty());  // rank 0 has them
  for (const std::size_t chunk : {2, 5, 23}) CHECK(sharded(file, degree, ids, chunk) == shards);
}

}  // namespace

TEST_CASE("Shards give the whole model's logits, and rows the same bits in any company") {
  const Heads even{8, 8, 32, 512}, grouped{8, 4, 32, 512}, uneven{8, 2, 32, 352};
  const auto type = GENERATE(TensorType::F32, TensorType::Q8_0, TensorType::Q4_K, TensorType::Q6_K);
  for (const int degree : {2, 4, 8}) check_degree(spec_of(even, type), degree);
  for (const int degree : {2, 4}) check_degree(spec_of(grouped, type), degree);
  check_degree(spec_of(grouped, type), 8);  // a KV head is on two ranks
  check_degree(spec_of(uneven, type, "qwen2"), 8);
}

TEST_CASE("Three ranks share nine heads and a feed-forward width of 1536 / 32 units") {
  for (const TensorType type : {TensorType::F32, TensorType::Q5_0})
    for (const int degree : {3, 9}) check_degree(spec_of({9, 3, 64, 544}, type), degree);
}

TEST_CASE("Eight ranks run the head layout of Llama-3-70B, 64 heads over 8 KV heads") {
  check_degree(spec_of({64, 8, 16, 288}, TensorType::Q4_0), 8);
}

TEST_CASE("The output bias is added once, and a tied head is split like another") {
  TinySpec spec = spec_of({8, 4, 32, 256}, TensorType::F32);
  spec.tied = true;
  auto writer = tiny_model(spec);
  const std::vector<float> bias(spec.hidden, 0.5f);
  const auto bytes = std::as_bytes(std::span(bias));
  for (int layer = 0; layer < spec.layers; ++layer)
    writer.add("blk." + std::to_string(layer) + ".attn_output.bias", TensorType::F32,
               {static_cast<std::int64_t>(spec.hidden)}, {bytes.begin(), bytes.end()});
  const TinyFile file(writer);
  const auto ids = some_ids(9, 256);
  CHECK(relative_error(sharded(file, 4, ids, 3)[0], sharded(file, 1, ids, 3)[0]) < kFloatTolerance);
}

TEST_CASE("Every rank knows all hidden states, bit for bit, and rank 0 the summaries") {
  const TinyFile file(spec_of({8, 4, 32, 256}, TensorType::Q4_K));
  std::vector<std::vector<float>> taps(4);
  on_ranks(file, 4, [&](Decoder& decoder, kv::PagePool& pool, int rank) {
    kv::Cache cache(pool);
    auto lease = kv::Lease::reserve(cache, 3);
    const auto ids = some_ids(3, 256);
    Batch batch{.rows = chain_rows(ids, 0), .tail = {}, .segments = {{&cache, 0, 3}}, .taps = {}};
    batch.rows[1].want = Want::SUMMARY;
    batch.taps = {{Tap::Point::LAYER_OUTPUT, 0}, {Tap::Point::FINAL_NORM, -1}};
    const Output& output = decoder.forward(batch);
    for (const auto& tap : output.taps) taps[rank].insert(taps[rank].end(), tap.begin(), tap.end());
    tests::require(rank != 0 || output.summaries[1].entropy > 0, "rank 0 summarizes");
  });
  CHECK(taps[0].size() == 2u * 3 * 256);
  for (const auto& other : taps) CHECK(other == taps[0]);
}

TEST_CASE("Shards cover a model without overlap, in whole heads, units and tiles") {
  const TinyFile file(spec_of({8, 4, 32, 352}, TensorType::Q4_K));
  const Architecture whole = architecture_of(file.open());
  for (const int degree : {1, 2, 4, 8}) {
    std::int64_t q = 0, width = 0, vocab = 0;
    for (int rank = 0; rank < degree; ++rank) {
      const Shard shard = shard_of(whole, rank, degree);
      CHECK(shard.q.begin == std::exchange(q, shard.q.end));
      CHECK(shard.feed_forward.begin == std::exchange(width, shard.feed_forward.end));
      CHECK(shard.vocab.begin == std::exchange(vocab, shard.vocab.end));
      CHECK(shard.feed_forward.begin % 32 == 0);
      CHECK(shard.vocab.begin % 16 == 0);
      CHECK(shard.kv.begin == shard.q.begin / 32 / 2 * 32);  // the KV head of its first head
    }
    CHECK(q == 256);
    CHECK(width == 352);
    CHECK(vocab == whole.shape.vocab);
  }
}

TEST_CASE("A degree that does not fit the heads is refused with those that do") {
  const TinyFile file(spec_of({8, 4, 32, 512}, TensorType::Q4_K));
  const Architecture whole = architecture_of(file.open());
  for (const int degree : {0, -1, 3, 5, 16})
    CHECK_THROWS_WITH(shard_of(whole, 0, degree), Contains("8 heads and 4 kv heads") &&
                                                      Contains("degrees that work: 1, 2, 4, 8"));
  CHECK_THROWS_AS(shard_of(whole, 0, 3), InputError);
  const TinyFile odd(spec_of({6, 2, 32, 512}, TensorType::Q8_0));
  CHECK_THROWS_WITH(shard_of(architecture_of(odd.open()), 0, 3),
                    Contains("6 heads and 2 kv heads") && Contains("work: 1, 2, 6"));
}

TEST_CASE("A rank needs memory for its shard and its KV heads only, all ranks for the model") {
  const TinyFile file(spec_of({8, 4, 32, 512}, TensorType::Q8_0));
  const auto gguf = file.open();
  const MemoryNeed whole = Decoder::memory_need(gguf, tiny_options(file));
  std::int64_t weights = 0, before = whole.weights;
  for (const int degree : {2, 4, 8}) {
    weights = 0;
    for (int rank = 0; rank < degree; ++rank)
      weights += Decoder::memory_need(gguf, tiny_options(file), rank, degree).weights;
    const MemoryNeed one = Decoder::memory_need(gguf, tiny_options(file), 1, degree);
    CHECK(one.weights < before * 0.6);
    CHECK(one.activations < whole.activations);
    CHECK(one.kv.page_bytes() == whole.kv.page_bytes() / std::min(degree, 4));
    before = one.weights;
    if (degree == 4) CHECK(weights == Approx(whole.weights).epsilon(0.05));  // norms on each
  }
  CHECK(weights > whole.weights);  // KV heads on two ranks each
}
