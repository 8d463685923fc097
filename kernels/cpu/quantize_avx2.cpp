// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "families.hpp"
#include "quantize.hpp"

namespace redline::kernels {
namespace {

inline std::uint32_t largest_bits(const float* x, std::int64_t count) {
  const __m256i sign_off = _mm256_set1_epi32(0x7fffffff);
  __m256i size = _mm256_setzero_si256();
  for (std::int64_t k = 0; k < count; k += 8)
    size = _mm256_max_epi32(
        size, _mm256_and_si256(_mm256_castps_si256(_mm256_loadu_ps(x + k)), sign_off));
  __m128i four = _mm_max_epi32(_mm256_castsi256_si128(size), _mm256_extracti128_si256(size, 1));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1));
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(four));
}

// q as 32 int8: each half lies in a lane of 128 bits.
inline HalfSums sums_of_halves(__m256i q) {
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), q);
  __m256i sums = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
  sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0x4e));
  sums = _mm256_add_epi32(sums, _mm256_shuffle_epi32(sums, 0xb1));
  return {_mm256_cvtsi256_si32(sums), _mm256_extract_epi32(sums, 4)};
}

inline HalfSums round_to_bytes(const float* x, float inverse, std::int8_t* q) {
  const __m256 factor = _mm256_set1_ps(inverse);
  __m256i rounded[4];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i)
    rounded[i] = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + 8 * i), factor));
  const __m256i packed = _mm256_packs_epi16(_mm256_packs_epi32(rounded[0], rounded[1]),
                                            _mm256_packs_epi32(rounded[2], rounded[3]));
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i in_order = _mm256_permutevar8x32_epi32(packed, order);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(q), in_order);
  return sums_of_halves(in_order);
}

}  // namespace

void install_avx2_quantize(Ops& ops) { ops.quantize = quantize; }

}  // namespace redline::kernels
