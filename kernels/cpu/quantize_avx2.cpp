// SPDX-License-Identifier: Apache-2.0
// reference/quantize.cpp, a block of 32 at a time.
#include <immintrin.h>

#include "families.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

inline int largest_lane(__m256i x) {
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}
inline int sum_lanes(__m256i x) {
  __m128i four = _mm_add_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
  four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1)));
}

struct HalfSums {
  int first, second;
};

// Writes q [32] and the scale.
inline HalfSums quantize_block(const float* x, std::byte* q, float* scale) {
  const __m256i sign_off = _mm256_set1_epi32(0x7fffffff);
  __m256 value[4];
  __m256i size = _mm256_setzero_si256();
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    value[i] = _mm256_loadu_ps(x + 8 * i);
    size = _mm256_max_epi32(size, _mm256_and_si256(_mm256_castps_si256(value[i]), sign_off));
  }
  const int bits = largest_lane(size);
  const float largest = _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(bits)));
  const bool finite = bits < 0x7f800000;
  auto* const to = reinterpret_cast<__m256i*>(q);
  if (!finite || largest < 0x1p-100f) {
    *scale = finite ? 0.0f : __builtin_nanf("");
    _mm256_storeu_si256(to, _mm256_setzero_si256());
    return {0, 0};
  }
  *scale = largest / 127.0f;
  const __m256 inverse = _mm256_set1_ps(127.0f / largest);
  __m256i rounded[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) rounded[i] = _mm256_cvtps_epi32(_mm256_mul_ps(value[i], inverse));
  const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(rounded[0], rounded[1]),
                                            _mm256_packs_epi32(rounded[2], rounded[3]));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  _mm256_storeu_si256(to, _mm256_permutevar8x32_epi32(packed, order));
  return {sum_lanes(_mm256_add_epi32(rounded[0], rounded[1])),
          sum_lanes(_mm256_add_epi32(rounded[2], rounded[3]))};
}

void quantize_row(const float* x, std::int64_t cols, const RowLayout& at, std::byte* row) {
  auto* const scales = reinterpret_cast<float*>(row + at.scale);
  auto* const scaled_sums = reinterpret_cast<float*>(row + at.scaled_sum);
  auto* const minus_sums = reinterpret_cast<std::int32_t*>(row + at.minus_sum);
  auto* const minus_half_sums = reinterpret_cast<std::int32_t*>(row + at.minus_half_sum);
  for (std::int64_t b = 0; b < cols / kBlock; ++b) {
    const HalfSums sums = quantize_block(x + b * kBlock, row + b * kBlock, scales + b);
    scaled_sums[b] = scales[b] * static_cast<float>(sums.first + sums.second);
    minus_sums[b] = -(sums.first + sums.second);
    minus_half_sums[2 * b] = -sums.first, minus_half_sums[2 * b + 1] = -sums.second;
  }
  __builtin_memcpy(row + at.floats, x, static_cast<unsigned long>(cols) * sizeof(float));
}

void quantize(const float* x, std::int64_t, std::int64_t cols, std::byte* out, Range range) {
  const RowLayout at = row_layout(cols);
  for (std::int64_t t = range.begin; t < range.end; ++t)
    quantize_row(x + t * cols, cols, at, out + t * at.stride);
}

}  // namespace

void install_avx2_quantize(Ops& ops) { ops.quantize = quantize; }

}  // namespace redline::kernels
