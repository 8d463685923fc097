// SPDX-License-Identifier: Apache-2.0
// Sixteen float lanes in two AVX2 registers. File local: see layout.hpp.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace redline::kernels {
namespace {

// Attention: kHeadsAtOnce x kAbreast sums of Floats fit the registers.
constexpr int kHeadsAtOnce = 6, kAbreast = 1;
constexpr int kPassesOfPages = 1 << 20;  // so many convert pages as they read them

struct Floats {
  __m256 low, high;
};
struct Doubles {
  __m256d a, b, c, d;
};

inline Floats splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline Floats load(const float* at) { return {_mm256_loadu_ps(at), _mm256_loadu_ps(at + 8)}; }
inline void store(float* at, Floats x) {
  _mm256_storeu_ps(at, x.low);
  _mm256_storeu_ps(at + 8, x.high);
}

// The first count lanes, zeros behind.
inline Floats load_first(const float* at, std::int64_t count) {
  if (count == 16) return load(at);
  float lanes[16] = {};
  __builtin_memcpy(lanes, at, static_cast<unsigned long>(count) * sizeof(float));
  return load(lanes);
}
inline void store_first(float* at, Floats x, std::int64_t count) {
  if (count == 16) return store(at, x);
  float lanes[16];
  store(lanes, x);
  __builtin_memcpy(at, lanes, static_cast<unsigned long>(count) * sizeof(float));
}
// x in the first count lanes, `rest` behind.
inline Floats first(Floats x, std::int64_t count, Floats rest) {
  const __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const int n = static_cast<int>(count);
  const __m256i low = _mm256_cmpgt_epi32(_mm256_set1_epi32(n), index);
  const __m256i high = _mm256_cmpgt_epi32(_mm256_set1_epi32(n - 8), index);
  return {_mm256_blendv_ps(rest.low, x.low, _mm256_castsi256_ps(low)),
          _mm256_blendv_ps(rest.high, x.high, _mm256_castsi256_ps(high))};
}

inline Floats operator+(Floats x, Floats y) {
  return {_mm256_add_ps(x.low, y.low), _mm256_add_ps(x.high, y.high)};
}
inline Floats operator-(Floats x, Floats y) {
  return {_mm256_sub_ps(x.low, y.low), _mm256_sub_ps(x.high, y.high)};
}
inline Floats operator*(Floats x, Floats y) {
  return {_mm256_mul_ps(x.low, y.low), _mm256_mul_ps(x.high, y.high)};
}
inline Floats operator/(Floats x, Floats y) {
  return {_mm256_div_ps(x.low, y.low), _mm256_div_ps(x.high, y.high)};
}
inline Floats fma(Floats x, Floats y, Floats z) {  // x y + z
  return {_mm256_fmadd_ps(x.low, y.low, z.low), _mm256_fmadd_ps(x.high, y.high, z.high)};
}
inline Floats fms(Floats x, Floats y, Floats z) {  // x y - z
  return {_mm256_fmsub_ps(x.low, y.low, z.low), _mm256_fmsub_ps(x.high, y.high, z.high)};
}
// x > y ? x : y and x < y ? x : y, so the second one when either is NaN.
inline Floats larger(Floats x, Floats y) {
  return {_mm256_max_ps(x.low, y.low), _mm256_max_ps(x.high, y.high)};
}
inline Floats smaller(Floats x, Floats y) {
  return {_mm256_min_ps(x.low, y.low), _mm256_min_ps(x.high, y.high)};
}
// value, but zero where x < bound.
inline Floats zero_below(Floats x, Floats bound, Floats value) {
  return {_mm256_andnot_ps(_mm256_cmp_ps(x.low, bound.low, _CMP_LT_OQ), value.low),
          _mm256_andnot_ps(_mm256_cmp_ps(x.high, bound.high, _CMP_LT_OQ), value.high)};
}
inline __m256 power_of_two_half(__m256 shifted) {
  const __m256i exponent = _mm256_slli_epi32(_mm256_castps_si256(shifted), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(exponent, _mm256_set1_epi32(0x3f800000)));
}
// 2^n for n in the low bits of n + 1.5 * 2^23.
inline Floats power_of_two(Floats shifted) {
  return {power_of_two_half(shifted.low), power_of_two_half(shifted.high)};
}
inline bool any_above(Floats x, Floats y) {  // a lane of x > y
  return _mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps(x.low, y.low, _CMP_GT_OQ),
                                         _mm256_cmp_ps(x.high, y.high, _CMP_GT_OQ)));
}
inline unsigned equal_mask(Floats x, Floats y) {  // bit i: lane i
  const int low = _mm256_movemask_ps(_mm256_cmp_ps(x.low, y.low, _CMP_EQ_OQ));
  const int high = _mm256_movemask_ps(_mm256_cmp_ps(x.high, y.high, _CMP_EQ_OQ));
  return static_cast<unsigned>(low | high << 8);
}

// Sixteen numbers of another type.
inline Floats load(const std::uint16_t* halves) {
  const auto* const at = reinterpret_cast<const __m128i*>(halves);
  return {_mm256_cvtph_ps(_mm_loadu_si128(at)), _mm256_cvtph_ps(_mm_loadu_si128(at + 1))};
}
inline Floats load(const std::int8_t* at) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
          _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_unpackhi_epi64(bytes, bytes)))};
}
inline void store_halves(std::uint16_t* at, Floats x) {
  auto* const to = reinterpret_cast<__m128i*>(at);
  _mm_storeu_si128(to, _mm256_cvtps_ph(x.low, _MM_FROUND_TO_NEAREST_INT));
  _mm_storeu_si128(to + 1, _mm256_cvtps_ph(x.high, _MM_FROUND_TO_NEAREST_INT));
}

// The fixed tree: lanes i and i + 8, then + 4, + 2, + 1.
inline __m256 fold(Floats x) { return _mm256_add_ps(x.low, x.high); }
inline float sum(Floats x) {
  const __m256 eight = fold(x);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float largest(Floats x) {
  const __m256 eight = _mm256_max_ps(x.low, x.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline Doubles zero_doubles() {
  const __m256d zero = _mm256_setzero_pd();
  return {zero, zero, zero, zero};
}
inline Doubles add(const Doubles& sums, Floats x) {
  return {_mm256_add_pd(sums.a, _mm256_cvtps_pd(_mm256_castps256_ps128(x.low))),
          _mm256_add_pd(sums.b, _mm256_cvtps_pd(_mm256_extractf128_ps(x.low, 1))),
          _mm256_add_pd(sums.c, _mm256_cvtps_pd(_mm256_castps256_ps128(x.high))),
          _mm256_add_pd(sums.d, _mm256_cvtps_pd(_mm256_extractf128_ps(x.high, 1)))};
}
inline double sum(const Doubles& x) {
  const __m256d four = _mm256_add_pd(_mm256_add_pd(x.a, x.c), _mm256_add_pd(x.b, x.d));
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}

}  // namespace
}  // namespace redline::kernels
