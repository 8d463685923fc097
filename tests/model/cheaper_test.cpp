// SPDX-License-Identifier: Apache-2.0
// Models made cheaper while they are loaded: weights of 4 bits, a head of some tokens alone.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "model/ranks.hpp"
#include "model/weights.hpp"
#include "redline/error.hpp"
#include "redline/kernels/requantize.hpp"
#include "sharded.hpp"

using namespace redline;
using namespace redline::model;
using Catch::Matchers::Contains;
using files::TensorType;
using kernels::WeightType;
namespace fs = std::filesystem;

namespace {

constexpr std::int32_t kPages = 16;

TinySpec spec_of(TensorType type, bool tied = true) {
  return {
      .architecture = "qwen2", .feed_forward = 288, .extra_vocab = 20, .type = type, .tied = tied};
}

LoadOptions cheaper(const TinyFile& file, Requantize requantize, std::vector<Token> tokens = {}) {
  LoadOptions options = tiny_options(file);
  options.requantize = requantize;
  options.head_tokens = std::move(tokens);
  return options;
}

// A decoder of one rank, and everything it needs.
struct Loaded {
  Loaded(const TinyFile& file, const LoadOptions& options, kernels::Isa isa = kernels::best(),
         int threads = 1)
      : device(threads, isa),
        decoder(file.open(), device, ranks, options),
        pool(decoder.kv_shape(), kPages) {}
  device::Device device;
  parallel::Solo ranks;
  Decoder decoder;
  kv::PagePool pool;
};

Trail run(const TinyFile& file, const LoadOptions& options, std::size_t chunk = 96,
          kernels::Isa isa = kernels::best(), int threads = 1) {
  Loaded loaded(file, options, isa, threads);
  return in_chunks(loaded.decoder, loaded.pool, some_ids(40, loaded.decoder.vocab()), chunk);
}

std::size_t weight_files(const TinyFile& file) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(file.cache() / "weights"))
    count += entry.path().extension() == ".weights" ? 1 : 0;
  return count;
}

// What Weights holds of a file, and what its matrices should be.
struct Held {
  Held(const TinyFile& tiny, const LoadOptions& options)
      : file(tiny.open()),
        whole(architecture_of(file)),
        pool(1),
        weights(file, whole, shard_of(whole, 0, 1), options, pool) {}
  files::Gguf file;
  Architecture whole;
  device::WorkerPool pool;
  Weights weights;
};

std::int32_t tiny_vocab(const TinyFile& file) { return shape_of(file.open()).vocab; }

std::vector<Token> every_third(std::int32_t vocab) {
  std::vector<Token> tokens;
  for (Token token = 1; token < vocab; token += 3) tokens.push_back(token);
  return tokens;
}

Summary last_summary(Loaded& loaded, Want want) {
  kv::Cache cache(loaded.pool);
  const auto ids = some_ids(9, loaded.decoder.vocab());
  auto lease = kv::Lease::reserve(cache, 9);
  Batch batch{.rows = chain_rows(ids, 0), .tail = {}, .segments = {{&cache, 0, 9}}, .taps = {}};
  for (auto& row : batch.rows) row.want = want;
  return loaded.decoder.forward(batch).summaries[8];
}

}  // namespace

TEST_CASE("Matrices of more than four bits become Q4_0, others stay, and the embedding does") {
  const auto [type, becomes] =
      GENERATE(table<TensorType, WeightType>({{TensorType::Q8_0, WeightType::Q4_0},
                                              {TensorType::Q5_0, WeightType::Q4_0},
                                              {TensorType::Q6_K, WeightType::Q4_0},
                                              {TensorType::BF16, WeightType::Q4_0},
                                              {TensorType::Q4_1, WeightType::Q4_1},
                                              {TensorType::Q4_K, WeightType::Q4_K}}));
  const bool tied = GENERATE(true, false);
  const TinyFile tiny(spec_of(type, tied));
  const Held held(tiny, cheaper(tiny, Requantize::Q4_0));
  CHECK(held.weights.layers()[1].q.type == becomes);
  CHECK(held.weights.layers()[1].up.type == becomes);
  CHECK(held.weights.head().rows.type == becomes);
  CHECK(held.weights.embedding().type == weight_type(type));
  CHECK((held.weights.head().rows.data == held.weights.embedding().data) ==
        (tied && becomes == weight_type(type)));
}

TEST_CASE("Quantised anew, a matrix is the search's own and near the file's") {
  const TinyFile tiny(spec_of(TensorType::Q8_0));
  const Held held(tiny, cheaper(tiny, Requantize::Q4_0));
  const files::Tensor& tensor = held.file.tensor("blk.1.ffn_up.weight");
  const kernels::PackedMatrix& up = held.weights.layers()[1].up;
  const std::int64_t cols = tensor.cols(),
                     row_bytes = kernels::file_row_bytes(WeightType::Q8_0, cols);
  std::vector<float> row(cols), back(cols);
  std::vector<std::byte> blocks(kernels::file_row_bytes(WeightType::Q4_0, cols) * tensor.rows());
  double wrong = 0, size = 0;
  for (std::int64_t i = 0; i < tensor.rows(); ++i) {
    std::byte* const own = blocks.data() + i * kernels::file_row_bytes(WeightType::Q4_0, cols);
    kernels::dequantize_row(WeightType::Q8_0, tensor.bytes.data() + i * row_bytes, cols,
                            row.data());
    kernels::quantize_row_q4_0(row.data(), cols, own);
    kernels::dequantize_row(WeightType::Q4_0, own, cols, back.data());
    for (std::int64_t k = 0; k < cols; ++k) {
      wrong += std::pow(double{row[k]} - back[k], 2);
      size += std::pow(double{row[k]}, 2);
    }
  }
  CHECK(wrong < 0.006 * size);  // uniform weights: a step of 1/8 of the largest would give 0.0045
  std::vector<std::byte> packed(kernels::packed_bytes(WeightType::Q4_0, tensor.rows(), cols));
  kernels::pack(WeightType::Q4_0, tensor.rows(), cols, blocks.data(), packed.data());
  CHECK(std::memcmp(packed.data(), up.data, packed.size()) == 0);
}

TEST_CASE("What was quantised anew is cached apart from the file's own and used again") {
  const TinyFile tiny(spec_of(TensorType::Q8_0));
  std::vector<std::string> said;
  LoadOptions options = cheaper(tiny, Requantize::Q4_0);
  options.progress = [&](double, const std::string& what) { said.push_back(what); };
  const Trail plain = run(tiny, cheaper(tiny, Requantize::NONE));
  CHECK(weight_files(tiny) == 1);
  const Trail first = run(tiny, options);
  CHECK(weight_files(tiny) == 2);
  CHECK(said.back().starts_with("packing "));
  CHECK(run(tiny, options) == first);
  CHECK(said.back().starts_with("checking "));
  CHECK(run(tiny, cheaper(tiny, Requantize::NONE)) == plain);
  CHECK(run(tiny, cheaper(tiny, Requantize::Q4_0, {1, 2, 3})).stored == first.stored);
  CHECK(weight_files(tiny) == 2);
  CHECK_FALSE(first == plain);
}

TEST_CASE("Cheaper models keep row invariance, on every instruction set") {
  const TinyFile tiny(spec_of(TensorType::Q5_0));
  const LoadOptions options = cheaper(tiny, Requantize::Q4_0, every_third(tiny_vocab(tiny)));
  const Trail plain = run(tiny, options);
  for (const std::size_t chunk : {1, 5}) CHECK(run(tiny, options, chunk) == plain);
  for (const kernels::Isa isa : kernels::supported()) CHECK(run(tiny, options, 7, isa, 2) == plain);
}

TEST_CASE("A short head gives the bits of the whole one, for its tokens alone") {
  const auto type = GENERATE(TensorType::Q8_0, TensorType::Q6_K, TensorType::F16);
  const auto requantize = GENERATE(Requantize::NONE, Requantize::Q4_0);
  const TinyFile tiny(spec_of(type, GENERATE(true, false)));
  const auto tokens = every_third(tiny_vocab(tiny));
  const Trail whole = run(tiny, cheaper(tiny, requantize));
  const Trail some = run(tiny, cheaper(tiny, requantize, tokens));
  CHECK(some.stored == whole.stored);
  REQUIRE(some.logits.size() == whole.logits.size());
  for (std::size_t t = 0; t < some.logits.size(); ++t) {
    REQUIRE(some.logits[t].size() == tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i)
      REQUIRE(same_bits(some.logits[t][i], whole.logits[t][tokens[i]]));
  }
}

TEST_CASE("The output names the tokens, and the best one is among them") {
  const TinyFile tiny(spec_of(TensorType::Q8_0));
  const auto tokens = every_third(tiny_vocab(tiny));
  Loaded whole(tiny, cheaper(tiny, Requantize::NONE));
  Loaded some(tiny, cheaper(tiny, Requantize::NONE, tokens));
  const Summary best = last_summary(some, Want::SUMMARY);
  const Trail rows = in_chunks(whole.decoder, whole.pool, some_ids(9, whole.decoder.vocab()), 9);
  Token expected = tokens[0];
  double sum = 0;
  for (const Token token : tokens) {
    if (rows.logits[8][token] > rows.logits[8][expected]) expected = token;
    sum += std::exp(double{rows.logits[8][token]});
  }
  CHECK(best.argmax == expected);
  CHECK(best.log_sum_exp == Approx(std::log(sum)).epsilon(1e-6));
  CHECK(last_summary(some, Want::ARGMAX).argmax == expected);
}

TEST_CASE("Equal logits go to the lowest token") {
  files::GgufWriter writer = tiny_model({.hidden = 64,
                                         .heads = 2,
                                         .kv_heads = 1,
                                         .feed_forward = 64,
                                         .type = TensorType::F32,
                                         .scale = 0});
  const TinyFile tiny(writer);
  Loaded some(tiny, cheaper(tiny, Requantize::NONE, {5, 9, 200}));
  CHECK(last_summary(some, Want::ARGMAX).argmax == 5);
}

TEST_CASE("Ranks share a short head and quantise nothing for themselves") {
  const TinyFile tiny(spec_of(TensorType::Q8_0));
  const auto options = cheaper(tiny, Requantize::Q4_0, every_third(tiny_vocab(tiny)));
  const auto ids = some_ids(20, tiny_vocab(tiny));
  Loaded one(tiny, options);
  const Trail expected = in_chunks(one.decoder, one.pool, ids, 20);
  device::Device device(1, kernels::best());
  const auto ranks = Ranks::of_threads(2, 1, kernels::best(), tests::kPatient);
  const auto model = ranks->lead().open(tiny.open(), 2, device, options, kPages);
  const Trail found = in_chunks(model->forward(), model->pool(), ids, 20);
  REQUIRE(found.logits[0].size() == options.head_tokens.size());
  CHECK(relative_error(found, expected) < 2e-2);
  CHECK(weight_files(tiny) == 1);
}

TEST_CASE("Head tokens that cannot be are refused by name") {
  const TinyFile tiny(spec_of(TensorType::Q8_0));
  const std::int32_t vocab = tiny_vocab(tiny);
  const auto need = [&](std::vector<Token> tokens, int degree = 1) {
    return Decoder::memory_need(tiny.open(), cheaper(tiny, Requantize::NONE, std::move(tokens)), 0,
                                degree);
  };
  CHECK_THROWS_WITH(need({0, vocab}), Contains("[0, " + std::to_string(vocab) + ")"));
  CHECK_THROWS_AS(need({4, 4}), InputError);
  CHECK_THROWS_AS(need({-1, 4}), InputError);
  std::vector<Token> few(16);
  std::iota(few.begin(), few.end(), 0);
  CHECK_THROWS_WITH(need(few, 2), Contains("16 tokens") && Contains("2 ranks"));
  few.push_back(16);
  CHECK_NOTHROW(need(few, 2));
}

TEST_CASE("The memory that is planned knows what was made cheaper") {
  const TinyFile tiny(spec_of(TensorType::Q8_0));
  const auto need = [&](Requantize requantize, std::vector<Token> tokens) {
    return Decoder::memory_need(tiny.open(), cheaper(tiny, requantize, std::move(tokens)));
  };
  const auto tokens = every_third(tiny_vocab(tiny));
  const MemoryNeed plain = need(Requantize::NONE, {}), small = need(Requantize::Q4_0, {});
  const MemoryNeed both = need(Requantize::Q4_0, tokens);
  const std::int64_t hidden = 256, count = std::ssize(tokens);
  CHECK(need(Requantize::NONE, tokens).weights ==
        plain.weights + kernels::packed_bytes(WeightType::Q8_0, count, hidden));
  CHECK(small.weights < plain.weights);
  CHECK(both.weights == small.weights -
                            kernels::packed_bytes(WeightType::Q4_0, tiny_vocab(tiny), hidden) +
                            kernels::packed_bytes(WeightType::Q4_0, count, hidden));
  CHECK(both.activations < plain.activations);
}
