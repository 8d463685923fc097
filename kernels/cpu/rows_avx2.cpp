// SPDX-License-Identifier: Apache-2.0
// reference/rows.cpp on sixteen lanes. AVX2 only: these ops are a few percent of a step.
#include "cpu/lanes_avx2.hpp"
//
#include "cpu/exponential.hpp"
#include "cpu/kv_store.hpp"
#include "families.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

inline std::int64_t lanes_at(std::int64_t k, std::int64_t cols) {
  return cols - k < kLanes ? cols - k : kLanes;
}

void norm_row(float* x, const float* delta, const float* weight, float epsilon, std::int64_t cols,
              float* out) {
  Floats squares = splat(0);
  for (std::int64_t k = 0; k < cols; k += kLanes) {
    const std::int64_t count = lanes_at(k, cols);
    Floats value = load_first(x + k, count);
    if (delta) {
      value = value + load_first(delta + k, count);
      store_first(x + k, value, count);
    }
    squares = fma(value, value, squares);
  }
  const float mean = sum(squares) / static_cast<float>(cols);
  const Floats inverse = splat(1.0f / __builtin_sqrtf(mean + epsilon));
  for (std::int64_t k = 0; k < cols; k += kLanes) {
    const std::int64_t count = lanes_at(k, cols);
    store_first(out + k, load_first(x + k, count) * inverse * load_first(weight + k, count), count);
  }
}

void add_rms_norm(float* x, const float* delta, const float* weight, float epsilon,
                  std::int64_t cols, float* out, Range rows) {
  for (std::int64_t t = rows.begin; t < rows.end; ++t)
    norm_row(x + t * cols, delta ? delta + t * cols : nullptr, weight, epsilon, cols,
             out + t * cols);
}

void swiglu(const float* gate, const float* up, std::int64_t width, std::int64_t stride, float* out,
            Range rows) {
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    for (std::int64_t k = 0; k < width; k += kLanes) {
      const std::int64_t count = lanes_at(k, width);
      const Floats g = load_first(gate + t * stride + k, count);
      const Floats u = load_first(up + t * stride + k, count);
      const Floats silu = g / (splat(1.0f) + exponential(splat(-0.0f) - g));
      store_first(out + t * width + k, silu * u, count);
    }
  }
}

void rotate_halves(const float* cosine, const float* sine, std::int64_t half, float* head) {
  for (std::int64_t i = 0; i < half; i += kLanes) {
    const std::int64_t count = lanes_at(i, half);
    const Floats c = load_first(cosine + i, count), s = load_first(sine + i, count);
    const Floats a = load_first(head + i, count), b = load_first(head + half + i, count);
    store_first(head + i, fms(a, c, b * s), count);
    store_first(head + half + i, fma(b, c, a * s), count);
  }
}

void rotate_pairs(const float* cosine, const float* sine, std::int64_t half, float* head) {
  const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
  std::int64_t i = 0;
  for (; i + 4 <= half; i += 4) {
    const __m256 c =
        _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(cosine + i)), twice);
    const __m256 s =
        _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(sine + i)), twice);
    const __m256 x = _mm256_loadu_ps(head + 2 * i), swapped = _mm256_permute_ps(x, 0xb1);
    _mm256_storeu_ps(head + 2 * i, _mm256_fmaddsub_ps(x, c, _mm256_mul_ps(swapped, s)));
  }
  for (; i < half; ++i) {
    const float a = head[2 * i], b = head[2 * i + 1];
    head[2 * i] = __builtin_fmaf(a, cosine[i], -(b * sine[i]));
    head[2 * i + 1] = __builtin_fmaf(b, cosine[i], a * sine[i]);
  }
}

void rotate(const Rope& rope, std::int64_t position, float* head) {
  const std::int64_t half = rope.head_size / 2;
  const float* const cosine = rope.cosine + position * half;
  const float* const sine = rope.sine + position * half;
  if (rope.pairs == RopePairs::NORM) return rotate_pairs(cosine, sine, half, head);
  rotate_halves(cosine, sine, half, head);
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

void install_avx2_rows(Ops& ops) {
  ops.add_rms_norm = add_rms_norm;
  ops.swiglu = swiglu;
  ops.rope_append = rope_append;
}

}  // namespace redline::kernels
