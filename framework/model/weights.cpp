// SPDX-License-Identifier: Apache-2.0
#include "model/weights.hpp"

namespace redline::model {
namespace {

std::vector<std::string> matrices_of(const files::Gguf& file, const Architecture& architecture) {
  std::vector<std::string> names;
  for (const TensorSpec& spec : tensors_of(architecture))
    if (spec.is_matrix && file.find_tensor(spec.name)) names.push_back(spec.name);
  return names;
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
    : cache_(file, matrices_of(file, whole), options.cache_folder / "weights", pool,
             options.progress),
      embedding_(cache_.matrix("token_embd.weight")),
      head_(kernels::rows_of(
          file.find_tensor("output.weight") ? cache_.matrix("output.weight") : embedding_,
          shard.vocab.begin, shard.vocab.end)),
      final_norm_(vector_of(file, "output_norm.weight")) {
  for (std::int32_t i = 0; i < whole.shape.layers; ++i)
    layers_.push_back(layer_of(file, cache_, shard, i));
}

std::int64_t Weights::bytes(const files::Gguf& file, const Architecture& whole,
                            const Shard& shard) {
  std::int64_t bytes = 0;
  for (const TensorSpec& spec : tensors_of(part_of(whole, shard))) {
    const files::Tensor* tensor = file.find_tensor(spec.name);
    if (!tensor) continue;
    bytes += spec.is_matrix ? kernels::packed_bytes(weight_type(tensor->type), spec.rows, spec.cols)
                            : spec.cols * static_cast<std::int64_t>(sizeof(float));
  }
  return bytes;
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
