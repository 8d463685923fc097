// SPDX-License-Identifier: Apache-2.0
// Weights as the unsigned operand of vpdpbusd, four activations broadcast as the signed one: a lane
// is an output row. A block is decoded once for all rows of a pass.
namespace redline::kernels {
namespace {
constexpr int kRowsAtPace = 2;
}
}  // namespace redline::kernels
#include "cpu/matmul.hpp"
//
#include "families.hpp"

namespace redline::kernels {
namespace {

inline __m512i load(const std::byte* at) { return _mm512_loadu_si512(at); }
inline __m512 load_halves(const std::byte* at) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
inline __m512i load_u8(const std::byte* at) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}
inline __m512i load_s8(const std::byte* at) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}

// The lines of a block's quants: read where they are used, or all of them first, in order.
template <WeightType type, bool in_order>
struct Quants {
  const std::byte* at;
  explicit Quants(const std::byte* quants) : at(quants) {}
  __m512i operator[](int line) const { return load(at + 64 * line); }
};
template <WeightType type>
struct Quants<type, true> {
  static constexpr int kLines = info(type).quant_bytes / 64;
  __m512i lines[kLines];
  explicit Quants(const std::byte* quants) {
#pragma GCC unroll 8
    for (int i = 0; i < kLines; ++i) {
      lines[i] = load(quants + 64 * i);
      asm volatile("" : "+v"(lines[i]));  // the compiler would read them in another order
    }
  }
  __m512i operator[](int line) const { return lines[line]; }
};
template <WeightType type, int M>
using QuantsOf = Quants<type, (M <= kRowsAtPace)>;

// Group j of a block's quants as bytes, 16 rows x 4 inputs. Q8_0 is biased by 128 to be unsigned.
template <WeightType type, bool in_order>
inline __m512i group(const Quants<type, in_order>& quants, int j) {
  if constexpr (type == WeightType::Q8_0) {
    return _mm512_xor_si512(quants[j], _mm512_set1_epi8(static_cast<char>(0x80)));
  } else {
    const __m512i pair = quants[j / 2];
    const __m512i low =
        _mm512_and_si512(j % 2 ? _mm512_srli_epi16(pair, 4) : pair, _mm512_set1_epi8(15));
    if constexpr (!five_bits(type) && type != WeightType::Q6_K) return low;
    const __m512i plane = quants[4 + (five_bits(type) ? 0 : j / 4)];
    const int shift = five_bits(type) ? j - 4 : 2 * (j % 4) - 4;  // brings the high bits to bit 4
    const __m512i high = shift < 0   ? _mm512_slli_epi16(plane, static_cast<unsigned>(-shift))
                         : shift > 0 ? _mm512_srli_epi16(plane, static_cast<unsigned>(shift))
                                     : plane;
    const __m512i mask = _mm512_set1_epi8(five_bits(type) ? 0x10 : 0x30);
    return _mm512_ternarylogic_epi32(low, high, mask, 0xf8);  // low | (high & mask)
  }
}

// What the 32 inputs of a block share, per output.
struct Scales {
  __m512 scale, min;  // min: added times the sum of x
  __m512i half[2];    // Q6_K: of 16 inputs each
};

template <WeightType type>
inline Scales load_scales(const std::byte* header, std::int64_t part) {
  Scales s{load_halves(header), _mm512_setzero_ps(), {}};
  if constexpr (has_min(type)) s.min = load_halves(header + 32);
  if constexpr (type == WeightType::Q6_K) {
    s.half[0] = load_s8(header + 32 + 32 * part);
    s.half[1] = load_s8(header + 48 + 32 * part);
  } else if constexpr (has_sub_scales(type)) {
    s.scale = _mm512_mul_ps(s.scale, _mm512_cvtepi32_ps(load_u8(header + 64 + 32 * part)));
    s.min = _mm512_mul_ps(s.min, _mm512_cvtepi32_ps(load_u8(header + 80 + 32 * part)));
  }
  return s;
}

// Groups [first, first + count) of rows q, added to dot [M].
template <WeightType type, int M>
inline void dot_groups(const QuantsOf<type, M>& quants, const std::int8_t (*q)[kBlock], int first,
                       int count, __m512i* dot) {
#pragma GCC unroll 8
  for (int j = first; j < first + count; ++j) {
    const __m512i w = group(quants, j);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      dot[m] = _mm512_dpbusd_epi32(dot[m], w, _mm512_set1_epi32(packed(q[m] + 4 * j)));
  }
}

// Integer products of a block; those of Q6_K with its scales of 16 inputs, below 2^24.
template <WeightType type, int M>
inline void block_products(const QuantsOf<type, M>& quants, const Scales& s,
                           const NarrowBlock<M>& x, __m512i* dot) {
  if constexpr (type == WeightType::Q6_K) {
    __m512i half[M];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) half[m] = _mm512_set1_epi32(x.minus_half_sums_32[m][0]);
    dot_groups<type, M>(quants, x.q, 0, 4, half);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      dot[m] = _mm512_mullo_epi32(s.half[0], half[m]);
      half[m] = _mm512_set1_epi32(x.minus_half_sums_32[m][1]);
    }
    dot_groups<type, M>(quants, x.q, 4, 4, half);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      dot[m] = _mm512_add_epi32(dot[m], _mm512_mullo_epi32(s.half[1], half[m]));
    return;
  }
  constexpr int kOffset = type == WeightType::Q8_0 ? 128 : info(type).offset;
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
    dot[m] = kOffset ? _mm512_slli_epi32(_mm512_set1_epi32(x.minus_sum[m]),
                                         kOffset ? __builtin_ctz(kOffset) : 0)
                     : _mm512_setzero_si512();
  dot_groups<type, M>(quants, x.q, 0, 8, dot);
}

template <WeightType type, int M>
inline void add_block(const std::byte* quants, const Scales& s, const NarrowBlock<M>& x,
                      __m512* sums) {
  __m512i dot[M];
  block_products<type, M>(QuantsOf<type, M>(quants), s, x, dot);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
    const __m512 scale = _mm512_mul_ps(s.scale, _mm512_set1_ps(x.scale[m]));
    sums[m] = _mm512_fmadd_ps(scale, _mm512_cvtepi32_ps(dot[m]), sums[m]);
    if constexpr (has_min(type)) {
      const __m512 x_sum = _mm512_set1_ps(x.scaled_sum[m]);
      sums[m] = type == WeightType::Q4_1 ? _mm512_fmadd_ps(s.min, x_sum, sums[m])
                                         : _mm512_fnmadd_ps(s.min, x_sum, sums[m]);
    }
  }
}

// The i-th 32 of 128 inputs, times their integer scales, added to dot [M].
template <WeightType type, int M>
inline void add_scaled(const std::byte* scales, const QuantsOf<type, M>& quants,
                       const WideBlock<M>& x, int i, __m512i* dot) {
  __m512i part[M];
  if constexpr (type == WeightType::Q6_K) {
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
      const __m512i scale = load_s8(scales + 16 * half);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) part[m] = _mm512_set1_epi32(x.minus_half_sums_32[i][m][half]);
      dot_groups<type, M>(quants, x.q[i], 4 * half, 4, part);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m)
        dot[m] = _mm512_add_epi32(dot[m], _mm512_mullo_epi32(scale, part[m]));
    }
  } else {
    const __m512i scale = load_u8(scales);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) part[m] = _mm512_setzero_si512();
    dot_groups<type, M>(quants, x.q[i], 0, 8, part);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      dot[m] = _mm512_add_epi32(dot[m], _mm512_mullo_epi32(scale, part[m]));
  }
}

// mins of 32 inputs times their sums, of the four blocks whose scales stand at `sub`.
template <int M>
inline void sum_mins(const std::byte* sub, const WideBlock<M>& x, __m512i* mins) {
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) mins[m] = _mm512_setzero_si512();
#pragma GCC unroll 2
  for (int i = 0; i < kWideBlocks; i += 2) {
    const __m512i pair = _mm512_or_si512(load_u8(sub + 32 * i + 16),
                                         _mm512_slli_epi32(load_u8(sub + 32 * (i + 1) + 16), 16));
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      mins[m] = _mm512_dpwssd_epi32(mins[m], pair, _mm512_set1_epi32(packed(x.sums[i / 2][m])));
  }
}

template <WeightType type, int M>
inline void add_wide_block(const std::byte* header, const std::byte* quants, std::int64_t part,
                           const WideBlock<M>& x, __m512* sums) {
  const std::byte* const scales = header + (type == WeightType::Q6_K ? 32 : 64) + 32 * part;
  __m512i dot[M];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) dot[m] = _mm512_setzero_si512();
  constexpr std::int64_t kBytes = info(type).quant_bytes;
  const auto add_32 = [&](int i) {
    prefetch<M>(quants + i * kBytes, kBytes);
    add_scaled<type, M>(scales + 32 * i, QuantsOf<type, M>(quants + i * kBytes), x, i, dot);
  };
  if constexpr (M <= kRowsAtPace) {
#pragma GCC unroll 4
    for (int i = 0; i < kWideBlocks; ++i) add_32(i);
  } else {
#pragma GCC unroll 1
    for (int i = 0; i < kWideBlocks; ++i) add_32(i);
  }
  const __m512 d = load_halves(header);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
    sums[m] = _mm512_fmadd_ps(_mm512_mul_ps(d, _mm512_set1_ps(x.scale[m])),
                              _mm512_cvtepi32_ps(dot[m]), sums[m]);
  if constexpr (has_min(type)) {
    const __m512 dmin = load_halves(header + 32);
    sum_mins<M>(scales, x, dot);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      sums[m] = _mm512_fnmadd_ps(_mm512_mul_ps(dmin, _mm512_set1_ps(x.scale[m])),
                                 _mm512_cvtepi32_ps(dot[m]), sums[m]);
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
inline void multiply_floats(const Inputs& w, const float* x, __m512* sums) {
  constexpr std::int64_t kStep = kLanes * info(type).block_bytes;
  for (std::int64_t k = 0; k < w.cols; ++k) {
    prefetch<M>(w.section + k * kStep, kStep);
    const __m512 weights = load_weights<type>(w.section + k * kStep);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      sums[m] = _mm512_fmadd_ps(weights, _mm512_set1_ps(x[m * w.cols + k]), sums[m]);
  }
}

template <WeightType type, Grain grain, int M>
void multiply(const Inputs& w, const Rows& x, float* out) {
  __m512 sums[M];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) sums[m] = _mm512_setzero_ps();
  if constexpr (is_float(type)) {
    multiply_floats<type, M>(w, x.floats, sums);
  } else if constexpr (grain == Grain::WIDE) {
    for_each_wide_block<type, M>(w, x,
                                 [&](const std::byte* header, const std::byte* quants,
                                     std::int64_t part, const WideBlock<M>& block) {
                                   add_wide_block<type, M>(header, quants, part, block, sums);
                                 });
  } else {
    for_each_block<type, M>(w, x,
                            [&](const std::byte* header, const std::byte* quants, std::int64_t part,
                                const NarrowBlock<M>& block) {
                              add_block<type, M>(quants, load_scales<type>(header, part), block,
                                                 sums);
                            });
  }
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) _mm512_storeu_ps(out + m * kLanes, sums[m]);
}

}  // namespace

void install_avx512_matmul(Ops& ops) { ops.matmul = matmul; }

}  // namespace redline::kernels
