// SPDX-License-Identifier: Apache-2.0
// What a file says about its transformer, read and checked once: the shape, the numbers the layers
// need, and every tensor it must hold.
#pragma once
#include <string>
#include <vector>

#include "model/decoder.hpp"
#include "redline/kernels/ops.hpp"
#include "redline/kernels/weights.hpp"

namespace redline::model {

struct Architecture {
  Shape shape;
  float epsilon;                  // of the norms
  double rope_base, rope_factor;  // positions are divided by the factor
  kernels::RopePairs rope_pairs;
  bool has_qkv_bias;  // the architecture always has; others may

  std::int64_t q_width() const { return std::int64_t{shape.heads} * shape.head_size; }
  std::int64_t kv_width() const { return std::int64_t{shape.kv_heads} * shape.head_size; }
};
// InputError: not one this build knows, a missing key, or numbers that do not fit together.
Architecture architecture_of(const files::Gguf& file);

struct TensorSpec {
  std::string name;
  std::int64_t cols, rows;  // inputs, outputs; rows 1: a vector
  bool is_matrix, is_required;
};
std::vector<TensorSpec> tensors_of(const Architecture& architecture);
// InputError: one is missing, of another shape, or the file holds one this build would ignore.
void check_tensors(const files::Gguf& file, const std::vector<TensorSpec>& specs);

kernels::WeightType weight_type(files::TensorType type);

}  // namespace redline::model
