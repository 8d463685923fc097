// SPDX-License-Identifier: Apache-2.0
// Keys: the GGUF specification and what llama.cpp's converter writes for these architectures.
#include "model/architecture.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "redline/error.hpp"

namespace redline::model {
namespace {

struct Known {
  std::string_view name;
  kernels::RopePairs pairs;  // llama files have their Q and K rows permuted to adjacent pairs
  bool has_qkv_bias;
};
constexpr Known kKnown[] = {{"llama", kernels::RopePairs::NORM, false},
                            {"qwen2", kernels::RopePairs::NEOX, true}};
constexpr std::int64_t kMaxDimension = std::int64_t{1} << 24;  // products of two stay exact

[[noreturn]] void refuse(const files::Gguf& file, const std::string& why) {
  throw InputError(file.path().string() + ": " + why);
}

class Keys {
 public:
  Keys(const files::Gguf& file, std::string architecture)
      : file_(file), prefix_(std::move(architecture) + ".") {}

  std::int32_t dimension(std::string_view key, std::optional<std::int64_t> fallback = {}) const {
    const std::int64_t value = file_.integer(full(key), fallback);
    if (value < 1 || value > kMaxDimension)
      refuse(file_, full(key) + " is " + std::to_string(value) + ", expected 1 to " +
                        std::to_string(kMaxDimension));
    return static_cast<std::int32_t>(value);
  }
  double positive(std::string_view key, std::optional<double> fallback = {}) const {
    const double value = file_.number(full(key), fallback);
    if (!(value > 0) || !std::isfinite(value))
      refuse(file_, full(key) + " is " + std::to_string(value) + ", expected a positive number");
    return value;
  }
  bool has(std::string_view key) const { return file_.has(full(key)); }
  std::string full(std::string_view key) const { return prefix_ + std::string(key); }

 private:
  const files::Gguf& file_;
  std::string prefix_;
};

const Known& known(const files::Gguf& file) {
  const std::string name = file.text("general.architecture");
  std::string names;
  for (const Known& one : kKnown) {
    if (one.name == name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  refuse(file, "architecture '" + name + "' is not one of those known: " + names);
}

void must_equal(const files::Gguf& file, const std::string& what, std::int64_t value,
                const std::string& other, std::int64_t expected) {
  if (value != expected)
    refuse(file, what + " is " + std::to_string(value) + " but " + other + " is " +
                     std::to_string(expected));
}

// Features that would change the result if they were passed over.
void refuse_unsupported(const files::Gguf& file, const Keys& keys) {
  for (const char* key : {"expert_count", "attention.sliding_window"})
    if (keys.has(key) && file.integer(keys.full(key)) != 0)
      refuse(file, keys.full(key) + " is " + std::to_string(file.integer(keys.full(key))) +
                       "; this build has neither experts nor sliding windows");
}

double rope_factor(const files::Gguf& file, const Keys& keys) {
  const std::string type = file.text(keys.full("rope.scaling.type"), "linear");
  if (type == "none") return 1;
  if (type != "linear")
    refuse(file, keys.full("rope.scaling.type") + " '" + type +
                     "' is not one of those known: none, linear");
  return keys.positive("rope.scaling.factor", keys.positive("rope.scale_linear", 1.0));
}

Shape read_shape(const files::Gguf& file, const Keys& keys, const Known& of) {
  Shape shape;
  shape.architecture = of.name;
  shape.layers = keys.dimension("block_count");
  shape.hidden = keys.dimension("embedding_length");
  shape.heads = keys.dimension("attention.head_count");
  shape.kv_heads = keys.dimension("attention.head_count_kv", shape.heads);
  shape.head_size = keys.dimension("attention.key_length", shape.hidden / shape.heads);
  shape.feed_forward = keys.dimension("feed_forward_length");
  shape.context = keys.dimension("context_length");
  shape.vocab =
      static_cast<std::int32_t>(std::min(file.tensor("token_embd.weight").rows(), kMaxDimension));
  return shape;
}

void check_shape(const files::Gguf& file, const Keys& keys, const Shape& shape) {
  if (shape.heads % shape.kv_heads != 0)
    refuse(file, keys.full("attention.head_count") + " is " + std::to_string(shape.heads) +
                     ", no multiple of the " + std::to_string(shape.kv_heads) + " kv heads");
  if (!keys.has("attention.key_length"))
    must_equal(file, keys.full("embedding_length"), shape.hidden, "heads times head size",
               std::int64_t{shape.heads} * shape.head_size);
  must_equal(file, keys.full("attention.value_length"),
             keys.dimension("attention.value_length", shape.head_size), "the key length",
             shape.head_size);
  must_equal(file, keys.full("rope.dimension_count"),
             keys.dimension("rope.dimension_count", shape.head_size), "the head size",
             shape.head_size);
  if (shape.head_size % 16 != 0)
    refuse(file,
           "the head size is " + std::to_string(shape.head_size) + ", expected a multiple of 16");
  if (keys.has("vocab_size"))
    must_equal(file, keys.full("vocab_size"), keys.dimension("vocab_size"),
               "the rows of token_embd.weight", shape.vocab);
  const auto tensors = static_cast<std::int64_t>(file.tensors().size());
  if (shape.layers > tensors)
    refuse(file, keys.full("block_count") + " is " + std::to_string(shape.layers) +
                     " but the file has only " + std::to_string(tensors) + " tensors");
}

}  // namespace

Architecture architecture_of(const files::Gguf& file) {
  const Known& of = known(file);
  const Keys keys(file, std::string(of.name));
  refuse_unsupported(file, keys);
  Architecture result;
  result.shape = read_shape(file, keys, of);
  check_shape(file, keys, result.shape);
  result.epsilon = static_cast<float>(keys.positive("attention.layer_norm_rms_epsilon"));
  result.rope_base = keys.positive("rope.freq_base", 10000.0);
  result.rope_factor = rope_factor(file, keys);
  result.rope_pairs = of.pairs;
  result.has_qkv_bias = of.has_qkv_bias;
  check_tensors(file, tensors_of(result));
  return result;
}

Shape shape_of(const files::Gguf& file) { return architecture_of(file).shape; }

}  // namespace redline::model
