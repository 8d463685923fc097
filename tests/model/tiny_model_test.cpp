// SPDX-License-Identifier: Apache-2.0
#include "model/tiny_model.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "files/sha256.hpp"
#include "model/architecture.hpp"
#include "redline/error.hpp"
#include "tiny.hpp"

using namespace redline;
using namespace redline::model;
using files::TensorType;

namespace {

std::string hash(const TinySpec& spec) {
  const std::string bytes = tiny_model(spec).bytes();
  return files::sha256_hex(std::as_bytes(std::span(bytes)));
}

}  // namespace

TEST_CASE("A generated model is the same bytes on every machine") {
  CHECK(hash({}) == "70c0f303d362b79f97dfd607bb4a1bb8ec07f6544e782e334b4b515021f94cff");
  CHECK(hash({.architecture = "qwen2", .type = TensorType::Q6_K, .seed = 2}) ==
        "57af600745549d39029957c767663f4ea54cc42f4f759f78f5504efa54c41847");
  CHECK(hash({.type = TensorType::F16}) ==
        "0acfbc739b3dce5eda74d50df8ff87cb9904836bdb77170bb79ddf8111dad763");
}

TEST_CASE("Another seed is another model; fewer layers share the rest") {
  CHECK(hash({.seed = 2}) != hash({}));
  const TinyFile two(TinySpec{.layers = 2}), three(TinySpec{.layers = 3});
  const auto small = two.open(), large = three.open();
  for (const files::Tensor& tensor : small.tensors())
    CHECK(std::ranges::equal(tensor.bytes, large.tensor(tensor.name).bytes));
}

TEST_CASE("Rows that K-quants cannot hold are Q8_0") {
  const TinyFile tiny(TinySpec{.hidden = 192, .feed_forward = 512, .type = TensorType::Q4_K});
  const auto file = tiny.open();
  CHECK(file.tensor("token_embd.weight").type == TensorType::Q8_0);
  CHECK(file.tensor("blk.0.ffn_down.weight").type == TensorType::Q4_K);
}

TEST_CASE("The vocabulary is 256 bytes, three specials and merges of tokens before") {
  const TinyFile tiny(TinySpec{.extra_vocab = 100});
  const auto file = tiny.open();
  const auto tokens = file.texts("tokenizer.ggml.tokens");
  const auto merges = file.texts("tokenizer.ggml.merges");
  REQUIRE(tokens.size() == 359);
  REQUIRE(merges.size() == 100);
  CHECK(tokens[0] == "!");
  CHECK(tokens[257] == "<|im_start|>");
  CHECK(file.integer("tokenizer.ggml.eos_token_id") == 258);
  CHECK(std::set<std::string>(tokens.begin(), tokens.end()).size() == tokens.size());
  std::set<std::string> known(tokens.begin(), tokens.begin() + 256);
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto space = merges[i].find(' ');
    const std::string left = merges[i].substr(0, space), right = merges[i].substr(space + 1);
    CHECK(known.contains(left));
    CHECK(known.contains(right));
    CHECK(tokens[259 + i] == left + right);
    known.insert(left + right);
  }
}

TEST_CASE("Weights of every type have the deviation asked for and no offset") {
  const auto type = GENERATE(TensorType::F32, TensorType::F16, TensorType::BF16, TensorType::Q4_0,
                             TensorType::Q4_1, TensorType::Q5_0, TensorType::Q8_0, TensorType::Q4_K,
                             TensorType::Q5_K, TensorType::Q6_K);
  CAPTURE(static_cast<int>(type));
  const TinyFile tiny(TinySpec{.type = type});
  const auto file = tiny.open();
  const files::Tensor& tensor = file.tensor("blk.0.ffn_gate.weight");
  const kernels::WeightType kind = weight_type(type);
  std::vector<float> row(tensor.cols());
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < tensor.rows(); ++i) {
    kernels::dequantize_row(kind, tensor.bytes.data() + i * kernels::file_row_bytes(kind, 256), 256,
                            row.data());
    for (const float value : row) sum += value, squares += value * value;
  }
  const double count = 256.0 * tensor.rows();
  CHECK(std::sqrt(squares / count) == Approx(1 / 16.0).epsilon(0.1));
  CHECK(std::fabs(sum / count) < 0.15 / 16);
}

TEST_CASE("Heads that do not divide the width are refused") {
  CHECK_THROWS_AS(tiny_model({.hidden = 250}), InputError);
  CHECK_THROWS_AS(tiny_model({.heads = 4, .kv_heads = 3}), InputError);
}
