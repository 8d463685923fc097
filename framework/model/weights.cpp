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

LayerWeights layer_of(const files::Gguf& file, const WeightCache& cache, std::int32_t index) {
  const std::string at = "blk." + std::to_string(index) + ".";
  const auto vector = [&](const char* name) { return vector_of(file, at + name); };
  const auto matrix = [&](const char* name) { return cache.matrix(at + name); };
  return {.attention_norm = vector("attn_norm.weight"),
          .feed_forward_norm = vector("ffn_norm.weight"),
          .q_bias = vector("attn_q.bias"),
          .k_bias = vector("attn_k.bias"),
          .v_bias = vector("attn_v.bias"),
          .o_bias = vector("attn_output.bias"),
          .q = matrix("attn_q.weight"),
          .k = matrix("attn_k.weight"),
          .v = matrix("attn_v.weight"),
          .o = matrix("attn_output.weight"),
          .gate = matrix("ffn_gate.weight"),
          .up = matrix("ffn_up.weight"),
          .down = matrix("ffn_down.weight")};
}

}  // namespace

Weights::Weights(const files::Gguf& file, const Architecture& architecture,
                 const LoadOptions& options, device::WorkerPool& pool)
    : cache_(file, matrices_of(file, architecture), options.cache_folder / "weights", pool,
             options.progress),
      embedding_(cache_.matrix("token_embd.weight")),
      head_(file.find_tensor("output.weight") ? cache_.matrix("output.weight") : embedding_),
      final_norm_(vector_of(file, "output_norm.weight")) {
  for (std::int32_t i = 0; i < architecture.shape.layers; ++i)
    layers_.push_back(layer_of(file, cache_, i));
}

std::int64_t Weights::bytes(const files::Gguf& file, const Architecture& architecture) {
  std::int64_t bytes = 0;
  for (const TensorSpec& spec : tensors_of(architecture)) {
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
