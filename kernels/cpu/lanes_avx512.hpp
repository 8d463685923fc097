// SPDX-License-Identifier: Apache-2.0
// Sixteen float lanes in one AVX-512 register. File local: see layout.hpp. The meaning of each
// function stands in lanes_avx2.hpp.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace redline::kernels {
namespace {

constexpr int kHeadsAtOnce = 8, kAbreast = 2;
constexpr int kPassesOfPages = 4;

struct Floats {
  __m512 v;
};
struct Doubles {
  __m512d low, high;
};

inline __mmask16 first_lanes(std::int64_t count) {
  return static_cast<__mmask16>((1u << count) - 1);
}

inline Floats splat(float x) { return {_mm512_set1_ps(x)}; }
inline Floats load(const float* at) { return {_mm512_loadu_ps(at)}; }
inline void store(float* at, Floats x) { _mm512_storeu_ps(at, x.v); }
inline Floats load_first(const float* at, std::int64_t count) {
  return {_mm512_maskz_loadu_ps(first_lanes(count), at)};
}
inline void store_first(float* at, Floats x, std::int64_t count) {
  _mm512_mask_storeu_ps(at, first_lanes(count), x.v);
}
inline Floats first(Floats x, std::int64_t count, Floats rest) {
  return {_mm512_mask_mov_ps(rest.v, first_lanes(count), x.v)};
}

inline Floats operator+(Floats x, Floats y) { return {_mm512_add_ps(x.v, y.v)}; }
inline Floats operator-(Floats x, Floats y) { return {_mm512_sub_ps(x.v, y.v)}; }
inline Floats operator*(Floats x, Floats y) { return {_mm512_mul_ps(x.v, y.v)}; }
inline Floats operator/(Floats x, Floats y) { return {_mm512_div_ps(x.v, y.v)}; }
inline Floats fma(Floats x, Floats y, Floats z) { return {_mm512_fmadd_ps(x.v, y.v, z.v)}; }
inline Floats fms(Floats x, Floats y, Floats z) { return {_mm512_fmsub_ps(x.v, y.v, z.v)}; }
inline Floats larger(Floats x, Floats y) { return {_mm512_max_ps(x.v, y.v)}; }
inline Floats smaller(Floats x, Floats y) { return {_mm512_min_ps(x.v, y.v)}; }
inline Floats zero_below(Floats x, Floats bound, Floats value) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.v, bound.v, _CMP_NLT_UQ), value.v)};
}
inline Floats power_of_two(Floats shifted) {
  const __m512i exponent = _mm512_slli_epi32(_mm512_castps_si512(shifted.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(exponent, _mm512_set1_epi32(0x3f800000)))};
}
inline bool any_above(Floats x, Floats y) { return _mm512_cmp_ps_mask(x.v, y.v, _CMP_GT_OQ); }
inline unsigned equal_mask(Floats x, Floats y) { return _mm512_cmp_ps_mask(x.v, y.v, _CMP_EQ_OQ); }

inline Floats load(const std::uint16_t* halves) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves)))};
}
inline Floats load(const std::int8_t* at) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes))};
}

inline __m256 fold(Floats x) {
  return _mm256_add_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
}
inline float sum(Floats x) {
  const __m256 eight = fold(x);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float largest(Floats x) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(x.v), _mm512_extractf32x8_ps(x.v, 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline Doubles zero_doubles() { return {_mm512_setzero_pd(), _mm512_setzero_pd()}; }
inline Doubles add(const Doubles& sums, Floats x) {
  return {_mm512_add_pd(sums.low, _mm512_cvtps_pd(_mm512_castps512_ps256(x.v))),
          _mm512_add_pd(sums.high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(x.v, 1)))};
}
inline double sum(const Doubles& x) {
  const __m512d eight = _mm512_add_pd(x.low, x.high);
  const __m256d four =
      _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

}  // namespace
}  // namespace redline::kernels
