// SPDX-License-Identifier: Apache-2.0
// Weights as the unsigned operand of vpmaddubsw, four activations broadcast as the signed one. Sums
// of 16 bits are widened before they could saturate: |x| <= 127, so a pair of products stays below
// 2 * 127 * 2^bits.
#include <immintrin.h>

#include "layout.hpp"

namespace redline::kernels {
namespace {

constexpr int kRowsAtPace = 0;
constexpr bool kSignedQ8 = true;
constexpr int kSharedRows = 4, kSharedQ6 = 2;

// Groups whose 16-bit sums fit: 8 * 2 * 15 * 127, 4 * 2 * 31 * 127 and 2 * 2 * 63 * 127 are below
// 2^15; so is one pair of |int8| * 127, with the sign moved to x.
constexpr int groups_in_16_bits(WeightType type) {
  return type == WeightType::Q8_0 ? 1 : type == WeightType::Q6_K ? 2 : five_bits(type) ? 4 : 8;
}

template <WeightType type>
constexpr int kPairsInRun = groups_in_16_bits(type) / 2;

// The compiler would keep the products of all rows alive at once, and spill them.
inline void now(__m256i& sum) { asm volatile("" : "+x"(sum)); }

inline __m256i products_of(const __m256i* w, const __m256i* x) {
  __m256i sum =
      _mm256_add_epi16(_mm256_maddubs_epi16(w[0], x[0]), _mm256_maddubs_epi16(w[1], x[1]));
  now(sum);
  return sum;
}
inline __m256i plus_products(__m256i run, const __m256i* w, const __m256i* x) {
  return _mm256_add_epi16(run, products_of(w, x));
}
inline __m256i twice_16(__m256i values) {  // int32 below 2^15 -> both of its halves
  return _mm256_or_si256(_mm256_and_si256(values, _mm256_set1_epi32(0xffff)),
                         _mm256_slli_epi32(values, 16));
}
inline __m256i prepared(__m256i scale) { return twice_16(scale); }
inline __m256i scaled(__m256i run, __m256i scale) { return _mm256_madd_epi16(run, scale); }

}  // namespace
}  // namespace redline::kernels
#include "cpu/matmul_halves.hpp"
//
#include "families.hpp"

namespace redline::kernels {
namespace {

template <WeightType type>
inline __m256i pair_products(__m256i w, const std::int8_t* q) {
  const __m256i x = _mm256_set1_epi32(packed(q));
  if constexpr (type == WeightType::Q8_0)
    return _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
  return _mm256_maddubs_epi16(w, x);
}

// Sum of the groups from `first` whose sum fits, 16 outputs' pairs.
template <WeightType type>
inline __m256i run_of_pairs(const __m256i* w, const std::int8_t* q, int first) {
  __m256i sum = pair_products<type>(w[first], q + 4 * first);
  if constexpr (groups_in_16_bits(type) > 1)
    for (int j = first + 1; j < first + groups_in_16_bits(type); ++j) {
      sum = _mm256_add_epi16(sum, pair_products<type>(w[j], q + 4 * j));
      now(sum);
    }
  return sum;
}

template <WeightType type, int M>
inline __m256 product(const __m256i* w, const Scales& s, const NarrowBlock<M>& x, int m) {
  __m256i dot, scale[2] = {_mm256_set1_epi16(1), _mm256_set1_epi16(1)};
  if constexpr (type == WeightType::Q6_K) {
    const __m256i both = _mm256_blend_epi16(s.half[0], _mm256_slli_epi32(s.half[1], 16), 0xaa);
    const __m256i sums = _mm256_set1_epi32(packed(x.minus_half_sums[m]));
    dot = _mm256_slli_epi32(_mm256_madd_epi16(both, sums), __builtin_ctz(info(type).offset));
    scale[0] = twice_16(s.half[0]), scale[1] = twice_16(s.half[1]);
  } else {
    dot = minus_offset<type, M>(x, m);
  }
#pragma GCC unroll 8
  for (int j = 0; j < 8; j += groups_in_16_bits(type))
    dot = _mm256_add_epi32(dot, _mm256_madd_epi16(run_of_pairs<type>(w, x.q[m], j), scale[j / 4]));
  return _mm256_cvtepi32_ps(dot);
}

}  // namespace

void install_avx2_matmul(Ops& ops) { ops.matmul = matmul; }

}  // namespace redline::kernels
