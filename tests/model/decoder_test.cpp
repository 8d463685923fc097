// SPDX-License-Identifier: Apache-2.0
// The decoder against a forward in float64 of the same weights.
#include "model/decoder.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "naive_forward.hpp"
#include "redline/error.hpp"
#include "replay.hpp"
#include "tiny.hpp"

using namespace redline;
using namespace redline::model;
using files::TensorType;

namespace {

// Root mean square of the difference over that of the logits.
double error_of(const Trail& found, const std::vector<NaiveForward::Vector>& expected) {
  double wrong = 0, size = 0;
  for (std::size_t t = 0; t < expected.size(); ++t)
    for (std::size_t i = 0; i < expected[t].size(); ++i) {
      wrong += std::pow(found.logits[t][i] - expected[t][i], 2);
      size += std::pow(expected[t][i], 2);
    }
  return std::sqrt(wrong / size);
}

double error_of(const TinyFile& file, kernels::KvType kv_type = kernels::KvType::F16) {
  TinyDecoder decoder(file, kernels::best(), 1, {}, kv_type);
  kv::PagePool pool(decoder->kv_shape(), 8, true);
  const auto ids = some_ids(37, decoder->vocab());
  const auto gguf = file.open();
  const double error = error_of(in_chunks(*decoder, pool, ids, 7), NaiveForward(gguf).logits(ids));
  CHECK(pool.guards_intact());
  return error;
}

constexpr double kFloatError = 1e-3;  // of K and V in F16
constexpr double kInt8Error = 0.03;   // of activations in 8 bits, through two layers

}  // namespace

TEST_CASE("Logits equal a forward in float64 for every weight type") {
  const auto type = GENERATE(TensorType::F32, TensorType::F16, TensorType::BF16, TensorType::Q4_0,
                             TensorType::Q4_1, TensorType::Q5_0, TensorType::Q8_0, TensorType::Q4_K,
                             TensorType::Q5_K, TensorType::Q6_K);
  const std::string architecture = GENERATE("llama", "qwen2");
  CAPTURE(static_cast<int>(type), architecture);
  const double error = error_of(TinyFile(TinySpec{.architecture = architecture, .type = type}));
  CHECK(error < (type <= TensorType::F16 || type == TensorType::BF16 ? kFloatError : kInt8Error));
  CHECK(error > 0);
}

TEST_CASE("KV in F32 is nearer to float64 than KV in F16, and that nearer than in Q8_0") {
  const TinyFile file({.type = TensorType::F32});
  const double full = error_of(file, kernels::KvType::F32), half = error_of(file),
               quarter = error_of(file, kernels::KvType::Q8_0);
  CHECK(full < 1e-5);
  CHECK((full < half && half < kFloatError));
  CHECK((half < quarter && quarter < 0.03));
}

TEST_CASE("KV in Q8_0 is refused for a head size that its scales do not divide") {
  const TinyFile file(
      {.hidden = 96, .heads = 2, .kv_heads = 1, .feed_forward = 128, .type = TensorType::F32});
  CHECK_THROWS_AS(TinyDecoder(file, kernels::best(), 1, {}, kernels::KvType::Q8_0), InputError);
  CHECK_THROWS_WITH(TinyDecoder(file, kernels::best(), 1, {}, kernels::KvType::Q8_0),
                    Catch::Contains("32 elements") && Catch::Contains("head size is 48"));
}

TEST_CASE("A tied head, odd widths and a head size of 48 are right too") {
  TinySpec spec{.type = TensorType::F32, .tied = true};
  spec.hidden = 288, spec.heads = 6, spec.kv_heads = 3, spec.feed_forward = 416, spec.layers = 3;
  spec.extra_vocab = 18;  // 277 rows: the last tile is not full
  CHECK(error_of(TinyFile(spec)) < kFloatError);
}

TEST_CASE("Rope scaling by a factor and by the file's own divisors is applied") {
  auto writer = tiny_model({.type = TensorType::F32});
  SECTION("a linear factor") {
    writer.set("llama.rope.scaling.type", std::string("linear"));
    writer.set("llama.rope.scaling.factor", 4.0);
  }
  SECTION("divisors") {
    std::vector<float> divisors(32, 1.0f);
    for (std::size_t i = 8; i < divisors.size(); ++i) divisors[i] = 1.0f + i / 8.0f;
    const auto bytes = std::as_bytes(std::span(divisors));
    writer.add("rope_freqs.weight", TensorType::F32, {32}, {bytes.begin(), bytes.end()});
  }
  CHECK(error_of(TinyFile(writer)) < kFloatError);
}

TEST_CASE("A summary holds the argmax, log-sum-exp and entropy of the row") {
  const TinyFile file(TinySpec{});
  TinyDecoder decoder(file, kernels::best(), 2);
  kv::PagePool pool(decoder->kv_shape(), 4);
  kv::Cache cache(pool);
  const auto ids = some_ids(3, decoder->vocab());
  const auto lease = kv::Lease::reserve(cache, 3);
  Batch batch{.rows = chain_rows(ids, 0), .tail = {}, .segments = {{&cache, 0, 3}}, .taps = {}};
  const auto rows = decoder->forward(batch).logits;
  std::vector<std::vector<float>> logits;
  for (const auto& row : rows) logits.emplace_back(row.begin(), row.end());
  batch.rows[0].want = Want::NOTHING;
  batch.rows[1].want = Want::ARGMAX;
  batch.rows[2].want = Want::SUMMARY;
  const Output& output = decoder->forward(batch);
  CHECK(output.logits[0].empty());
  CHECK(output.logits[2].empty());
  const auto largest = [](const auto& v) {
    return std::max_element(v.begin(), v.end()) - v.begin();
  };
  CHECK(output.summaries[1].argmax == largest(logits[1]));
  CHECK(output.summaries[2].argmax == largest(logits[2]));
  double sum = 0, entropy = 0;
  for (const float logit : logits[2]) sum += std::exp(double{logit});
  for (const float logit : logits[2])
    entropy -= std::exp(double{logit}) / sum * (logit - std::log(sum));
  CHECK(output.summaries[2].log_sum_exp == Approx(std::log(sum)).epsilon(1e-6));
  CHECK(output.summaries[2].entropy == Approx(entropy).epsilon(1e-5));
}

TEST_CASE("Taps give the residual stream before and behind a layer, and the final norm") {
  const TinyFile file(TinySpec{.type = TensorType::F32});
  TinyDecoder decoder(file);
  kv::PagePool pool(decoder->kv_shape(), 4);
  kv::Cache cache(pool);
  const auto ids = some_ids(5, decoder->vocab());
  const auto lease = kv::Lease::reserve(cache, 5);
  Batch batch{.rows = chain_rows(ids, 0), .tail = {}, .segments = {{&cache, 0, 5}}, .taps = {}};
  using Point = Tap::Point;
  batch.taps = {{Point::LAYER_INPUT, 0},
                {Point::LAYER_OUTPUT, 0},
                {Point::LAYER_INPUT, 1},
                {Point::LAYER_OUTPUT, -1},
                {Point::FINAL_NORM, -1}};
  const Output& output = decoder->forward(batch);
  REQUIRE(output.taps.size() == 5);
  const auto width = static_cast<std::size_t>(decoder->shape().hidden);
  for (const auto& tap : output.taps) REQUIRE(tap.size() == 5 * width);
  CHECK(std::ranges::equal(output.taps[1], output.taps[2]));
  CHECK_FALSE(std::ranges::equal(output.taps[0], output.taps[1]));
  const auto gguf = file.open();
  const files::Tensor& embedding = gguf.tensor("token_embd.weight");
  const auto* rows = reinterpret_cast<const float*>(embedding.bytes.data());
  CHECK(std::equal(output.taps[0].begin(), output.taps[0].begin() + width, rows + ids[0] * width));
  const auto* norm = reinterpret_cast<const float*>(gguf.tensor("output_norm.weight").bytes.data());
  double squares = 0;
  for (std::size_t k = 0; k < width; ++k) squares += std::pow(output.taps[3][k], 2);
  for (std::size_t k = 0; k < width; ++k)
    REQUIRE(output.taps[4][k] ==
            Approx(output.taps[3][k] / std::sqrt(squares / width + 1e-5) * norm[k]).epsilon(1e-4));
  batch.taps = {{Point::LAYER_INPUT, 2}};
  CHECK_THROWS_AS(decoder->forward(batch), Error);
}
