// SPDX-License-Identifier: Apache-2.0
// Weights as the unsigned operand of vpdpbusd, four activations broadcast as the signed one: a lane
// is an output row. A block is decoded once for all rows of a pass.
#include "cpu/matmul.hpp"
#include "families.hpp"

namespace redline::kernels {
namespace {

inline __m512i load(const std::byte* at) { return _mm512_loadu_si512(at); }
inline __m512 load_halves(const std::byte* at) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
inline __m512 load_u8(const std::byte* at) {
  return _mm512_cvtepi32_ps(
      _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}
inline __m512 load_s8(const std::byte* at) {
  return _mm512_cvtepi32_ps(
      _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at))));
}

// Group j of a block's quants as bytes, 16 rows x 4 inputs. Q8_0 is biased by 128 to be unsigned.
template <WeightType type>
inline __m512i group(const std::byte* quants, int j) {
  if constexpr (type == WeightType::Q8_0) {
    return _mm512_xor_si512(load(quants + 64 * j), _mm512_set1_epi8(static_cast<char>(0x80)));
  } else {
    const __m512i pair = load(quants + 64 * (j / 2));
    const __m512i low =
        _mm512_and_si512(j % 2 ? _mm512_srli_epi16(pair, 4) : pair, _mm512_set1_epi8(15));
    if constexpr (!five_bits(type) && type != WeightType::Q6_K) return low;
    const __m512i plane = load(quants + 256 + (five_bits(type) ? 0 : 64 * (j / 4)));
    const int shift = five_bits(type) ? j - 4 : 2 * (j % 4) - 4;  // brings the high bits to bit 4
    const __m512i high = shift < 0   ? _mm512_slli_epi16(plane, static_cast<unsigned>(-shift))
                         : shift > 0 ? _mm512_srli_epi16(plane, static_cast<unsigned>(shift))
                                     : plane;
    const __m512i mask = _mm512_set1_epi8(five_bits(type) ? 0x10 : 0x30);
    return _mm512_ternarylogic_epi32(low, high, mask, 0xf8);  // low | (high & mask)
  }
}

// What the 32 inputs of a block share, per row.
struct Scales {
  __m512 scale, min;  // min: added times the sum of x
  __m512 half[2];     // Q6_K: of 16 inputs each
};

template <WeightType type>
inline Scales load_scales(const std::byte* header, std::int64_t part) {
  Scales s{load_halves(header), _mm512_setzero_ps(), {}};
  if constexpr (has_min(type)) s.min = load_halves(header + 32);
  if constexpr (type == WeightType::Q6_K) {
    s.half[0] = load_s8(header + 32 + 32 * part);
    s.half[1] = load_s8(header + 48 + 32 * part);
  } else if constexpr (has_sub_scales(type)) {
    s.scale = _mm512_mul_ps(s.scale, load_u8(header + 64 + 32 * part));
    s.min = _mm512_mul_ps(s.min, load_u8(header + 80 + 32 * part));
  }
  return s;
}

// Groups [first, first + count) of block b, added to dot [M].
template <WeightType type, int M>
inline void dot_groups(const std::byte* quants, const Activations& x, std::int64_t b, int first,
                       int count, __m512i* dot) {
#pragma GCC unroll 8
  for (int j = first; j < first + count; ++j) {
    const __m512i w = group<type>(quants, j);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      dot[m] = _mm512_dpbusd_epi32(dot[m], w, _mm512_set1_epi32(x.integer(0, m, b * 8 + j)));
  }
}

// Integer products of a block as floats, exact: below 2^24.
template <WeightType type, int M>
inline void block_products(const std::byte* quants, const Scales& s, const Activations& x,
                           std::int64_t b, __m512* products) {
  constexpr int kOffset = type == WeightType::Q8_0 ? 128 : info(type).offset;
  constexpr unsigned kShift = kOffset ? __builtin_ctz(kOffset) : 0;
  const auto minus_offset = [&](std::int64_t offset, int m, std::int64_t index) {
    if constexpr (kOffset == 0) return _mm512_setzero_si512();
    return _mm512_slli_epi32(_mm512_set1_epi32(x.integer(offset, m, index)), kShift);
  };
  __m512i dot[M], second[M];
  if constexpr (type == WeightType::Q6_K) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) dot[m] = minus_offset(x.at.minus_half_sum, m, 2 * b);
    dot_groups<type, M>(quants, x, b, 0, 4, dot);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) second[m] = minus_offset(x.at.minus_half_sum, m, 2 * b + 1);
    dot_groups<type, M>(quants, x, b, 4, 4, second);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      products[m] = _mm512_fmadd_ps(s.half[1], _mm512_cvtepi32_ps(second[m]),
                                    _mm512_mul_ps(s.half[0], _mm512_cvtepi32_ps(dot[m])));
  } else {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) dot[m] = minus_offset(x.at.minus_sum, m, b);
    dot_groups<type, M>(quants, x, b, 0, 8, dot);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) products[m] = _mm512_cvtepi32_ps(dot[m]);
  }
}

template <WeightType type, int M>
inline void add_block(const std::byte* quants, const Scales& s, const Activations& x,
                      std::int64_t b, __m512* sums) {
  __m512 products[M];
  block_products<type, M>(quants, s, x, b, products);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
    const __m512 scale = _mm512_mul_ps(s.scale, _mm512_set1_ps(x.real(x.at.scale, m, b)));
    sums[m] = _mm512_fmadd_ps(scale, products[m], sums[m]);
    if constexpr (has_min(type)) {
      const __m512 x_sum = _mm512_set1_ps(x.real(x.at.scaled_sum, m, b));
      sums[m] = type == WeightType::Q4_1 ? _mm512_fmadd_ps(s.min, x_sum, sums[m])
                                         : _mm512_fnmadd_ps(s.min, x_sum, sums[m]);
    }
  }
}

template <WeightType type>
inline __m512 load_weights(const std::byte* at) {
  if constexpr (type == WeightType::F32) return _mm512_loadu_ps(at);
  if constexpr (type == WeightType::F16) return load_halves(at);
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

template <WeightType type, int M>
inline void multiply_floats(const Inputs& inputs, const Activations& x, __m512* sums) {
  constexpr std::int64_t kStep = kLanes * info(type).block_bytes;
  for (std::int64_t k = 0; k < inputs.cols; ++k) {
    prefetch(inputs.quants + k * kStep, kStep);
    const __m512 w = load_weights<type>(inputs.quants + k * kStep);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      sums[m] = _mm512_fmadd_ps(w, _mm512_set1_ps(x.real(x.at.floats, m, k)), sums[m]);
  }
}

template <WeightType type, int M>
void multiply(const Inputs& w, const Activations& x, float* out) {
  __m512 sums[M];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) sums[m] = _mm512_setzero_ps();
  if constexpr (is_float(type)) {
    multiply_floats<type, M>(w, x, sums);
  } else {
    for_each_block<type>(w, [&](const std::byte* header, const std::byte* quants, std::int64_t part,
                                std::int64_t b) {
      add_block<type, M>(quants, load_scales<type>(header, part), x, b, sums);
    });
  }
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) _mm512_storeu_ps(out + m * kLanes, sums[m]);
}

}  // namespace

void install_avx512_matmul(Ops& ops) { ops.matmul = matmul; }

}  // namespace redline::kernels
