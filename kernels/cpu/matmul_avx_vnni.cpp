// SPDX-License-Identifier: Apache-2.0
// Weights as the unsigned operand of vpdpbusd on 256 bits, four activations broadcast as the signed
// one. Built twice: with the encoding of AVX-VNNI, and with that of AVX-512, so that a machine of
// either kind can run it.
#include <immintrin.h>

#include "cpu/dot_bytes.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

constexpr int kRowsAtPace = 0;
constexpr bool kSignedQ8 = false;
constexpr int kSharedRows = 4, kSharedQ6 = 4;

template <WeightType type>
constexpr int kPairsInRun = type == WeightType::Q6_K ? 2 : 4;

inline __m256i plus_products(__m256i run, const __m256i* w, const __m256i* x) {
  return dot_bytes(dot_bytes(run, w[0], x[0]), w[1], x[1]);
}
inline __m256i products_of(const __m256i* w, const __m256i* x) {
  return plus_products(_mm256_setzero_si256(), w, x);
}
inline __m256i prepared(__m256i scale) { return scale; }
inline __m256i scaled(__m256i run, __m256i scale) { return _mm256_mullo_epi32(run, scale); }

}  // namespace
}  // namespace redline::kernels
#include "cpu/matmul_halves.hpp"
//
#include "families.hpp"

namespace redline::kernels {
namespace {

inline __m256i dot_bytes(__m256i sum, __m256i w, const std::int8_t* q) {
  return dot_bytes(sum, w, _mm256_set1_epi32(packed(q)));
}

template <WeightType type, int M>
inline __m256 product(const __m256i* w, const Scales& s, const NarrowBlock<M>& x, int m) {
  if constexpr (type == WeightType::Q6_K) {
    __m256i half[2] = {_mm256_set1_epi32(x.minus_half_sums_32[m][0]),
                       _mm256_set1_epi32(x.minus_half_sums_32[m][1])};
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) half[j / 4] = dot_bytes(half[j / 4], w[j], x.q[m] + 4 * j);
    const __m256 first = _mm256_mul_ps(_mm256_cvtepi32_ps(s.half[0]), _mm256_cvtepi32_ps(half[0]));
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(s.half[1]), _mm256_cvtepi32_ps(half[1]), first);
  }
  __m256i even = minus_offset<type, M>(x, m), odd = _mm256_setzero_si256();
#pragma GCC unroll 8
  for (int j = 0; j < 8; j += 2) {
    even = dot_bytes(even, w[j], x.q[m] + 4 * j);
    odd = dot_bytes(odd, w[j + 1], x.q[m] + 4 * j + 4);
  }
  return _mm256_cvtepi32_ps(_mm256_add_epi32(even, odd));
}

}  // namespace

#ifdef __AVXVNNI__
void install_avx_vnni_matmul(Ops& ops) { ops.matmul = matmul; }
#else
void install_avx_vnni_matmul_of_avx512(Ops& ops) { ops.matmul = matmul; }
#endif

}  // namespace redline::kernels
