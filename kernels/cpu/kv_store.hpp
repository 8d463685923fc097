// SPDX-License-Identifier: Apache-2.0
// K and V of one row and kv head into its slot, as reference/kv_values.hpp has it. Include after
// lanes_avx2.hpp.
#pragma once
#include "kv_layout.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

// Up to sixteen elements, `step` apart.
template <class Element>
void scatter(const Element* from, std::int64_t count, std::int64_t step, Element* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i * step] = from[i];
}

void store_floats(const float* x, std::int64_t size, std::int64_t step, std::byte* to) {
  scatter(x, size, step, reinterpret_cast<float*>(to));
}

void store_halves(const float* x, std::int64_t size, std::int64_t step, std::byte* to) {
  auto* const halves = reinterpret_cast<std::uint16_t*>(to);
  for (std::int64_t e = 0; e < size; e += kLanes) {
    const std::int64_t count = size - e < kLanes ? size - e : kLanes;
    std::uint16_t sixteen[kLanes];
    store_halves(sixteen, load_first(x + e, count));
    scatter(sixteen, count, step, halves + e * step);
  }
}

inline Floats magnitude(Floats x) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, x.low), _mm256_andnot_ps(sign, x.high)};
}

// Rounded to nearest even, after a cut to [-127, 127].
inline void store_bytes(std::int8_t* to, Floats x) {
  const Floats cut = smaller(larger(x, splat(-127)), splat(127));
  const __m256i low = _mm256_cvtps_epi32(cut.low), high = _mm256_cvtps_epi32(cut.high);
  const __m256i words =
      _mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8);  // back in order
  _mm_storeu_si128(
      reinterpret_cast<__m128i*>(to),
      _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

// 32 elements; returns their scale. A number that is not finite makes all of them NaN.
std::uint16_t quantize_block(const float* x, std::int8_t* out) {
  const Floats low = load(x), high = load(x + kLanes);
  const float most = largest(larger(magnitude(high), larger(magnitude(low), splat(0))));
  const bool is_finite = sum(fma(low, splat(0), high * splat(0))) == 0;
  const std::uint16_t half = is_finite ? _cvtss_sh(most / 127.0f, 0) : 0x7e00;
  const float scale = _cvtsh_ss(half), inverse = scale > 0 ? 1.0f / scale : 0;
  store_bytes(out, low * splat(inverse));
  store_bytes(out + kLanes, high * splat(inverse));
  return half;
}

void store_quants(const float* x, std::int64_t size, std::int64_t step, std::int64_t scale_step,
                  std::uint16_t* scales, std::byte* to) {
  auto* const quants = reinterpret_cast<std::int8_t*>(to);
  for (std::int64_t e = 0; e < size; e += kKvBlock) {
    std::int8_t block[kKvBlock];
    scales[e / kKvBlock * scale_step] = quantize_block(x + e, block);
    scatter(block, kKvBlock, step, quants + e * step);
  }
}

// Elements of a slot lie `step` apart: 16 in K, 1 in V.
void store_slot(const PagedKv& kv, std::int64_t slot, std::int64_t kv_head, Part part,
                const float* x) {
  const std::int64_t size = kv.head_size, in_page = slot % kPageTokens;
  const bool is_key = part == Part::KEYS;
  const std::int64_t step = is_key ? kPageTokens : 1, at = is_key ? in_page : in_page * size;
  std::byte* const begin = part_of(kv, slot / kPageTokens, kv_head, part);
  std::byte* const elements = begin + scale_bytes(kv.type, size) + at * element_bytes(kv.type);
  switch (kv.type) {
    case KvType::F16:
      return store_halves(x, size, step, elements);
    case KvType::F32:
      return store_floats(x, size, step, elements);
    case KvType::Q8_0:
      return store_quants(x, size, step, step,
                          reinterpret_cast<std::uint16_t*>(begin) +
                              (is_key ? in_page : in_page * (size / kKvBlock)),
                          elements);
  }
}

}  // namespace
}  // namespace redline::kernels
