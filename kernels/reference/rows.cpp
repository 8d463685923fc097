// SPDX-License-Identifier: Apache-2.0
// Norm, activation and rotary position: one row at a time.
#include <cmath>

#include "families.hpp"
#include "reference/kv_values.hpp"
#include "reference/lanes.hpp"

namespace redline::kernels {
namespace {

void add_rms_norm(float* x, const float* delta, const float* weight, float epsilon,
                  std::int64_t cols, float* out, Range rows) {
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    float* const row = x + t * cols;
    if (delta)
      for (std::int64_t k = 0; k < cols; ++k) row[k] = row[k] + delta[t * cols + k];
    float squares[kLanes] = {};
    for (std::int64_t k = 0; k < cols; ++k)
      squares[k % kLanes] = std::fma(row[k], row[k], squares[k % kLanes]);
    const float mean = sum_lanes(squares) / static_cast<float>(cols);
    const float inverse = 1.0f / std::sqrt(mean + epsilon);
    for (std::int64_t k = 0; k < cols; ++k) out[t * cols + k] = row[k] * inverse * weight[k];
  }
}

void swiglu(const float* gate, const float* up, std::int64_t width, std::int64_t stride, float* out,
            Range rows) {
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    for (std::int64_t k = 0; k < width; ++k) {
      const float g = gate[t * stride + k];
      out[t * width + k] = g / (1.0f + exp32(-g)) * up[t * stride + k];
    }
  }
}

void rotate(const Rope& rope, std::int64_t position, float* head) {
  const std::int64_t half = rope.head_size / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const float c = rope.cosine[position * half + i], s = rope.sine[position * half + i];
    float& first = head[rope.pairs == RopePairs::NORM ? 2 * i : i];
    float& second = head[rope.pairs == RopePairs::NORM ? 2 * i + 1 : i + half];
    const float a = first, b = second;
    first = std::fma(a, c, -(b * s));
    second = std::fma(b, c, a * s);
  }
}

void rope_append(const Rope& rope, const std::int32_t* positions, const std::int32_t* slots,
                 const PagedKv* const* kv, float* q, std::int64_t heads, std::int64_t q_stride,
                 float* k, const float* v, std::int64_t kv_stride, Range rows) {
  const std::int64_t size = rope.head_size;
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    for (std::int64_t h = 0; h < heads; ++h)
      rotate(rope, positions[t], q + t * q_stride + h * size);
    for (std::int64_t g = 0; g < kv[t]->kv_heads; ++g) {
      float* const key = k + t * kv_stride + g * size;
      rotate(rope, positions[t], key);
      store_slot(*kv[t], slots[t], g, Part::KEYS, key);
      store_slot(*kv[t], slots[t], g, Part::VALUES, v + t * kv_stride + g * size);
    }
  }
}

}  // namespace

void install_reference_rows(Ops& ops) {
  ops.add_rms_norm = add_rms_norm;
  ops.swiglu = swiglu;
  ops.rope_append = rope_append;
}

}  // namespace redline::kernels
