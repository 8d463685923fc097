// SPDX-License-Identifier: Apache-2.0
#include "model/weights.hpp"

#include "model/packed_writer.hpp"

#include <unordered_map>

namespace redline::model {
namespace {

constexpr const char* kEmbedding = "token_embd.weight";
constexpr const char* kHead = "output.weight";

// A tied head that is quantised anew is a matrix of its own: rows of the embedding are read one by
// one, and stay as they are.
std::vector<PackedSource> matrices_of(const files::Gguf& file, const Architecture& architecture,
                                      Requantize requantize) {
  std::vector<PackedSource> matrices;
  for (const TensorSpec& spec : tensors_of(architecture)) {
    const files::Tensor* const tensor = file.find_tensor(spec.name);
    if (!tensor || !spec.is_matrix) continue;
    const bool is_embedding = spec.name == kEmbedding;
    matrices.push_back(
        {spec.name, spec.name,
         is_embedding ? weight_type(tensor->type) : packed_type(*tensor, requantize)});
    if (is_embedding && !file.find_tensor(kHead) &&
        packed_type(*tensor, requantize) != weight_type(tensor->type))
      matrices.push_back({kHead, kEmbedding, packed_type(*tensor, requantize)});
  }
  return matrices;
}

Head head_of(const kernels::PackedMatrix& whole, const Shard& shard, const ShortHead& part,
             std::span<const Token> tokens) {
  if (!tokens.empty()) return {part.matrix(), std::ssize(tokens), tokens};
  return {kernels::rows_of(whole, shard.vocab.begin, shard.vocab.end), whole.rows, {}};
}

std::vector<float> slice(const std::vector<float>& values, const Part& part) {
  if (values.empty()) return {};
  return {values.begin() + part.begin, values.begin() + part.end};
}

// Column split of q, k, v, gate and up, row split of o and down: a rank's o and down give a part of
// the sum that the ranks make together, and one of them adds the bias.
LayerWeights layer_of(const files::Gguf& file, const WeightCache& cache, const Shard& shard,
                      std::int32_t index) {
  const std::string at = "blk." + std::to_string(index) + ".";
  const auto vector = [&](const char* name) { return vector_of(file, at + name); };
  const auto outputs = [&](const char* name, const Part& part) {
    return kernels::rows_of(cache.matrix(at + name), part.begin, part.end);
  };
  const auto inputs = [&](const char* name, const Part& part) {
    return kernels::cols_of(cache.matrix(at + name), part.begin, part.end);
  };
  return {.attention_norm = vector("attn_norm.weight"),
          .feed_forward_norm = vector("ffn_norm.weight"),
          .q_bias = slice(vector("attn_q.bias"), shard.q),
          .k_bias = slice(vector("attn_k.bias"), shard.kv),
          .v_bias = slice(vector("attn_v.bias"), shard.kv),
          .o_bias = shard.rank == 0 ? vector("attn_output.bias") : std::vector<float>{},
          .q = outputs("attn_q.weight", shard.q),
          .k = outputs("attn_k.weight", shard.kv),
          .v = outputs("attn_v.weight", shard.kv),
          .o = inputs("attn_output.weight", shard.q),
          .gate = outputs("ffn_gate.weight", shard.feed_forward),
          .up = outputs("ffn_up.weight", shard.feed_forward),
          .down = inputs("ffn_down.weight", shard.feed_forward)};
}

}  // namespace

Weights::Weights(const files::Gguf& file, const Architecture& whole, const Shard& shard,
                 const LoadOptions& options, device::WorkerPool& pool)
    : cache_(file, matrices_of(file, whole, options.requantize), options.cache_folder / "weights",
             options.huge_pages && shard.degree == 1, pool, options.progress),
      embedding_(cache_.matrix(kEmbedding)),
      head_tokens_(options.head_tokens),
      final_norm_(vector_of(file, "output_norm.weight")) {
  const kernels::PackedMatrix& head = cache_.has(kHead) ? cache_.matrix(kHead) : embedding_;
  if (!head_tokens_.empty()) short_head_ = ShortHead(head, head_tokens_, shard);
  head_ = head_of(head, shard, short_head_, head_tokens_);
  for (std::int32_t i = 0; i < whole.shape.layers; ++i)
    layers_.push_back(layer_of(file, cache_, shard, i));
  // Beside the small tensors the system has mapped what lies around them.
  for (const files::Tensor& tensor : file.tensors()) forget(tensor.bytes);
}

std::int64_t Weights::bytes(const files::Gguf& file, const Architecture& whole, const Shard& shard,
                            const LoadOptions& options) {
  std::int64_t bytes = 0;
  std::unordered_map<std::string, TensorSpec> specs;
  for (const TensorSpec& spec : tensors_of(part_of(whole, shard))) {
    specs.emplace(spec.name, spec);
    if (!spec.is_matrix && file.find_tensor(spec.name))
      bytes += spec.cols * static_cast<std::int64_t>(sizeof(float));
  }
  const bool is_short = !options.head_tokens.empty();
  kernels::WeightType head = kernels::WeightType::F32;
  for (const PackedSource& matrix : matrices_of(file, whole, options.requantize)) {
    const bool is_head = matrix.name == kHead;
    const TensorSpec& spec = specs.at(matrix.name);
    if (is_head || matrix.name == kEmbedding) head = matrix.type;
    if (!is_head || !is_short) bytes += kernels::packed_bytes(matrix.type, spec.rows, spec.cols);
  }
  if (is_short)
    bytes += kernels::packed_bytes(
        head, tile_part(head_outputs(whole, options), shard.rank, shard.degree).size(),
        whole.shape.hidden);
  return bytes;
}

kernels::WeightType packed_type(const files::Tensor& tensor, Requantize requantize) {
  const kernels::WeightType stored = weight_type(tensor.type);
  switch (stored) {
    case kernels::WeightType::Q4_0:
    case kernels::WeightType::Q4_1:
    case kernels::WeightType::Q4_K:
      return stored;
    default:
      return requantize == Requantize::Q4_0 ? kernels::WeightType::Q4_0 : stored;
  }
}

std::int64_t head_outputs(const Architecture& whole, const LoadOptions& options) {
  return options.head_tokens.empty() ? whole.shape.vocab : std::ssize(options.head_tokens);
}

std::vector<float> vector_of(const files::Gguf& file, const std::string& name) {
  const files::Tensor* tensor = file.find_tensor(name);
  if (!tensor) return {};
  std::vector<float> values(tensor->cols());
  kernels::dequantize_row(weight_type(tensor->type), tensor->bytes.data(), tensor->cols(),
                          values.data());
  return values;
}

}  // namespace redline::model
