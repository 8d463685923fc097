// SPDX-License-Identifier: Apache-2.0
// The tensors of a llama or qwen2 file, held against what the file has.
#include <algorithm>
#include <unordered_map>

#include "model/architecture.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

std::string shape_text(std::int64_t cols, std::int64_t rows) {
  return "[" + std::to_string(cols) + ", " + std::to_string(rows) + "]";
}

void check_one(const files::Gguf& file, const TensorSpec& spec) {
  const files::Tensor* tensor = file.find_tensor(spec.name);
  if (!tensor) {
    if (!spec.is_required) return;
    throw InputError(file.path().string() + ": tensor " + spec.name + " is missing, expected " +
                     shape_text(spec.cols, spec.rows));
  }
  if (tensor->cols() != spec.cols || tensor->rows() != spec.rows)
    throw InputError(file.path().string() + ": tensor " + spec.name + " is " +
                     shape_text(tensor->cols(), tensor->rows()) + ", the metadata asks for " +
                     shape_text(spec.cols, spec.rows));
  const std::int64_t divisor =
      spec.is_matrix ? std::max<std::int64_t>(32, kernels::block_weights(weight_type(tensor->type)))
                     : 1;
  if (spec.cols % divisor != 0)
    throw InputError(file.path().string() + ": tensor " + spec.name + " has rows of " +
                     std::to_string(spec.cols) + " weights, expected a multiple of " +
                     std::to_string(divisor));
}

}  // namespace

std::vector<TensorSpec> tensors_of(const Architecture& architecture) {
  const Shape& shape = architecture.shape;
  const std::int64_t hidden = shape.hidden, width = shape.feed_forward;
  const std::int64_t q = architecture.q_width(), kv = architecture.kv_width();
  const bool bias = architecture.has_qkv_bias;
  std::vector<TensorSpec> specs = {
      {"token_embd.weight", hidden, shape.vocab, true, true},
      {"output.weight", hidden, shape.vocab, true, false},  // absent: tied to the embedding
      {"output_norm.weight", hidden, 1, false, true},
      {"rope_freqs.weight", shape.head_size / 2, 1, false, false}};
  for (std::int32_t i = 0; i < shape.layers; ++i) {
    const std::string at = "blk." + std::to_string(i) + ".";
    specs.insert(specs.end(), {{at + "attn_norm.weight", hidden, 1, false, true},
                               {at + "attn_q.weight", hidden, q, true, true},
                               {at + "attn_k.weight", hidden, kv, true, true},
                               {at + "attn_v.weight", hidden, kv, true, true},
                               {at + "attn_q.bias", q, 1, false, bias},
                               {at + "attn_k.bias", kv, 1, false, bias},
                               {at + "attn_v.bias", kv, 1, false, bias},
                               {at + "attn_output.weight", q, hidden, true, true},
                               {at + "attn_output.bias", hidden, 1, false, false},
                               {at + "ffn_norm.weight", hidden, 1, false, true},
                               {at + "ffn_gate.weight", hidden, width, true, true},
                               {at + "ffn_up.weight", hidden, width, true, true},
                               {at + "ffn_down.weight", width, hidden, true, true}});
  }
  return specs;
}

void check_tensors(const files::Gguf& file, const std::vector<TensorSpec>& specs) {
  std::unordered_map<std::string_view, const TensorSpec*> by_name;
  for (const TensorSpec& spec : specs) {
    check_one(file, spec);
    by_name.emplace(spec.name, &spec);
  }
  for (const files::Tensor& tensor : file.tensors())
    if (!by_name.contains(tensor.name))
      throw InputError(file.path().string() + ": tensor " + tensor.name +
                       " is none of this architecture; to pass over it would change the result");
}

kernels::WeightType weight_type(files::TensorType type) {
  using files::TensorType;
  using kernels::WeightType;
  switch (type) {
    case TensorType::F32:
      return WeightType::F32;
    case TensorType::F16:
      return WeightType::F16;
    case TensorType::BF16:
      return WeightType::BF16;
    case TensorType::Q4_0:
      return WeightType::Q4_0;
    case TensorType::Q4_1:
      return WeightType::Q4_1;
    case TensorType::Q5_0:
      return WeightType::Q5_0;
    case TensorType::Q8_0:
      return WeightType::Q8_0;
    case TensorType::Q4_K:
      return WeightType::Q4_K;
    case TensorType::Q5_K:
      return WeightType::Q5_K;
    case TensorType::Q6_K:
      return WeightType::Q6_K;
  }
  throw InputError("tensor type " + std::to_string(static_cast<unsigned>(type)) + " is unknown");
}

}  // namespace redline::model
