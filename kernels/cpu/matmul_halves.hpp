// SPDX-License-Identifier: Apache-2.0
// The matmul on registers of 256 bits: a lane is an output, a tile is two halves of eight. The
// weights of 32 inputs are decoded once for all rows of a pass. An instruction set gives kSignedQ8
// and product<type>; of 128 inputs kPairsInRun, products_of, plus_products, prepared, scaled, and
// how many rows kSharedRows and kSharedQ6 allow. File local: see layout.hpp.
#pragma once
#include "cpu/matmul.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kHalf = 8;  // outputs of a register

inline __m256i load(const std::byte* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}
inline __m128i load_eight_bytes(const std::byte* at) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
}
inline __m256 load_halves(const std::byte* at) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}
inline __m256 load_u8(const std::byte* at) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(load_eight_bytes(at)));
}

// Group j of a block's quants as bytes, 8 outputs x 4 inputs. `quants` stands at the half. Q8_0 is
// signed, or biased by 128.
template <WeightType type>
inline __m256i group(const std::byte* quants, int j) {
  if constexpr (type == WeightType::Q8_0) {
    const __m256i w = load(quants + 64 * j);
    return kSignedQ8 ? w : _mm256_xor_si256(w, _mm256_set1_epi8(static_cast<char>(0x80)));
  } else {
    const __m256i pair = load(quants + 64 * (j / 2));
    const __m256i low =
        _mm256_and_si256(j % 2 ? _mm256_srli_epi16(pair, 4) : pair, _mm256_set1_epi8(15));
    if constexpr (!five_bits(type) && type != WeightType::Q6_K) return low;
    const __m256i plane = load(quants + 256 + (five_bits(type) ? 0 : 64 * (j / 4)));
    const int shift = five_bits(type) ? j - 4 : 2 * (j % 4) - 4;  // brings the high bits to bit 4
    const __m256i high = shift < 0   ? _mm256_slli_epi16(plane, -shift)
                         : shift > 0 ? _mm256_srli_epi16(plane, shift)
                                     : plane;
    const __m256i mask = _mm256_set1_epi8(five_bits(type) ? 0x10 : 0x30);
    return _mm256_or_si256(low, _mm256_and_si256(high, mask));
  }
}

// What the 32 inputs of a block share, per output of a half.
struct Scales {
  __m256 scale, min;  // min: added times the sum of x
  __m256i half[2];    // Q6_K: of 16 inputs each, int32
};

template <WeightType type>
inline Scales load_scales(const std::byte* header, std::int64_t part, std::int64_t row) {
  Scales s{load_halves(header + 2 * row), _mm256_setzero_ps(), {}};
  if constexpr (has_min(type)) s.min = load_halves(header + 32 + 2 * row);
  if constexpr (type == WeightType::Q6_K) {
    s.half[0] = _mm256_cvtepi8_epi32(load_eight_bytes(header + 32 + 32 * part + row));
    s.half[1] = _mm256_cvtepi8_epi32(load_eight_bytes(header + 48 + 32 * part + row));
  } else if constexpr (has_sub_scales(type)) {
    s.scale = _mm256_mul_ps(s.scale, load_u8(header + 64 + 32 * part + row));
    s.min = _mm256_mul_ps(s.min, load_u8(header + 80 + 32 * part + row));
  }
  return s;
}

// What a row's offset takes off the products of 32 inputs.
template <WeightType type, int M>
inline __m256i minus_offset(const NarrowBlock<M>& x, int m) {
  constexpr int kOffset = type == WeightType::Q8_0 && !kSignedQ8 ? 128 : info(type).offset;
  if constexpr (kOffset == 0)
    return _mm256_setzero_si256();
  else
    return _mm256_slli_epi32(_mm256_set1_epi32(x.minus_sum[m]), __builtin_ctz(kOffset));
}

// Integer product of 32 inputs of row m, with the scales of 16 inputs for Q6_K: below 2^24. w [8].
template <WeightType type, int M>
__m256 product(const __m256i* w, const Scales& s, const NarrowBlock<M>& x, int m);

// sums [M, 16] in memory: the weights want the registers.
template <WeightType type, int M>
inline void add_block(const std::byte* quants, const Scales& s, const NarrowBlock<M>& x,
                      float* sums) {
  __m256i w[8];
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) w[j] = group<type>(quants, j);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
    const __m256 scale = _mm256_mul_ps(s.scale, _mm256_set1_ps(x.scale[m]));
    __m256 sum =
        _mm256_fmadd_ps(scale, product<type, M>(w, s, x, m), _mm256_load_ps(sums + m * kLanes));
    if constexpr (has_min(type)) {
      const __m256 x_sum = _mm256_set1_ps(x.scaled_sum[m]);
      sum = type == WeightType::Q4_1 ? _mm256_fmadd_ps(s.min, x_sum, sum)
                                     : _mm256_fnmadd_ps(s.min, x_sum, sum);
    }
    _mm256_store_ps(sums + m * kLanes, sum);
  }
}

inline __m256i load_u8_as_integers(const std::byte* at) {
  return _mm256_cvtepu8_epi32(load_eight_bytes(at));
}
inline __m256i load_s8_as_integers(const std::byte* at) {
  return _mm256_cvtepi8_epi32(load_eight_bytes(at));
}

// Halves of a tile that share the broadcasts of x: both, while their sums fit in registers.
template <WeightType type, int M>
constexpr int kHalves = M <= (type == WeightType::Q6_K ? kSharedQ6 : kSharedRows) ? 2 : 1;

// Of groups 2p and 2p + 1 of M rows, added to run [halves, M], 32 inputs of which begin at q.
template <WeightType type, int M>
inline void add_pair(const std::byte* quants, const std::int8_t (*q)[kBlock], int p,
                     __m256i (*run)[M]) {
  constexpr int kOf = kHalves<type, M>;
  __m256i w[kOf][2];
#pragma GCC unroll 2
  for (int h = 0; h < kOf; ++h)
    w[h][0] = group<type>(quants + 32 * h, 2 * p),
    w[h][1] = group<type>(quants + 32 * h, 2 * p + 1);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
    const __m256i x[2] = {_mm256_set1_epi32(packed(q[m] + 8 * p)),
                          _mm256_set1_epi32(packed(q[m] + 8 * p + 4))};
#pragma GCC unroll 2
    for (int h = 0; h < kOf; ++h)
      run[h][m] =
          p % kPairsInRun<type> == 0 ? products_of(w[h], x) : plus_products(run[h][m], w[h], x);
  }
}

// The i-th 32 of 128 inputs, times their integer scales, added to dot [halves, M].
template <WeightType type, int M>
inline void add_scaled(const std::byte* scales, const std::byte* quants, const WideBlock<M>& x,
                       int i, __m256i (*dot)[M]) {
  constexpr bool kSix = type == WeightType::Q6_K;
  __m256i run[kHalves<type, M>][M];
#pragma GCC unroll 4
  for (int p = 0; p < 4; ++p) {
    add_pair<type, M>(quants, x.q[i], p, run);
    if ((p + 1) % kPairsInRun<type>) continue;
#pragma GCC unroll 2
    for (int h = 0; h < kHalves<type, M>; ++h) {
      const __m256i scale = prepared(kSix ? load_s8_as_integers(scales + 16 * (p / 2) + 8 * h)
                                          : load_u8_as_integers(scales + 8 * h));
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) dot[h][m] = _mm256_add_epi32(dot[h][m], scaled(run[h][m], scale));
    }
  }
}

// What the offset of Q6_K takes off: 32 times the scales of 16 inputs each times their sums.
template <int M>
inline void add_offsets(const std::byte* scales, const std::int16_t (*minus_half_sums)[2],
                        __m256i* dot) {
  const __m256i both = _mm256_blend_epi16(
      load_s8_as_integers(scales), _mm256_slli_epi32(load_s8_as_integers(scales + 16), 16), 0xaa);
  const __m256i times = _mm256_slli_epi16(both, __builtin_ctz(info(WeightType::Q6_K).offset));
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
    dot[m] = _mm256_add_epi32(
        dot[m], _mm256_madd_epi16(times, _mm256_set1_epi32(packed(minus_half_sums[m]))));
}

// mins of 32 inputs times their sums, of the four blocks whose scales stand at `sub`.
template <int M>
inline void sum_mins(const std::byte* sub, const WideBlock<M>& x, __m256i* mins) {
  __m256i pair[kWideBlocks / 2];
#pragma GCC unroll 2
  for (int i = 0; i < kWideBlocks; i += 2)
    pair[i / 2] =
        _mm256_or_si256(load_u8_as_integers(sub + 32 * i + 16),
                        _mm256_slli_epi32(load_u8_as_integers(sub + 32 * (i + 1) + 16), 16));
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m)
    mins[m] = _mm256_add_epi32(_mm256_madd_epi16(pair[0], _mm256_set1_epi32(packed(x.sums[0][m]))),
                               _mm256_madd_epi16(pair[1], _mm256_set1_epi32(packed(x.sums[1][m]))));
}

// dot [M] of a half and 128 inputs to floats, with its mins. sums [M, 16] stand at the half.
template <WeightType type, int M>
inline void add_floats(const std::byte* header, const std::byte* scales, const WideBlock<M>& x,
                       const __m256i* dot, float* sums) {
  const __m256 d = load_halves(header);
  __m256i mins[M];
  if constexpr (has_min(type)) sum_mins<M>(scales, x, mins);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
    __m256 sum = _mm256_fmadd_ps(_mm256_mul_ps(d, _mm256_set1_ps(x.scale[m])),
                                 _mm256_cvtepi32_ps(dot[m]), _mm256_load_ps(sums + m * kLanes));
    if constexpr (has_min(type))
      sum = _mm256_fnmadd_ps(_mm256_mul_ps(load_halves(header + 32), _mm256_set1_ps(x.scale[m])),
                             _mm256_cvtepi32_ps(mins[m]), sum);
    _mm256_store_ps(sums + m * kLanes, sum);
  }
}

// Of the half of eight outputs that begins at `row`, or of both. sums [M, 16] stand there.
template <WeightType type, int M>
inline void add_wide(const std::byte* header, const std::byte* quants, std::int64_t part,
                     std::int64_t row, const WideBlock<M>& x, float* sums) {
  constexpr std::int64_t kBytes = info(type).quant_bytes;
  const std::byte* const scales = header + (type == WeightType::Q6_K ? 32 : 64) + 32 * part + row;
  __m256i dot[kHalves<type, M>][M] = {};
#pragma GCC unroll 1
  for (int i = 0; i < kWideBlocks; ++i) {
    if (row == 0) prefetch<M>(quants + i * kBytes, kBytes);
    add_scaled<type, M>(scales + 32 * i, quants + i * kBytes + 4 * row, x, i, dot);
    if constexpr (type == WeightType::Q6_K)
#pragma GCC unroll 2
      for (int h = 0; h < kHalves<type, M>; ++h)
        add_offsets<M>(scales + 32 * i + 8 * h, x.minus_half_sums[i], dot[h]);
  }
#pragma GCC unroll 2
  for (int h = 0; h < kHalves<type, M>; ++h)
    add_floats<type, M>(header + 2 * row + 16 * h, scales + 8 * h, x, dot[h], sums + 8 * h);
}

template <WeightType type>
inline __m256 load_weights(const std::byte* at) {
  if constexpr (type == WeightType::F32) return _mm256_loadu_ps(reinterpret_cast<const float*>(at));
  if constexpr (type == WeightType::F16) return load_halves(at);
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

template <WeightType type, int M>
inline void multiply_floats(const Inputs& w, const float* x, float* out) {
  constexpr std::int64_t kWidth = info(type).block_bytes, kStep = kLanes * kWidth;
  for (std::int64_t row = 0; row < kLanes; row += kHalf) {
    __m256 sums[M];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) sums[m] = _mm256_setzero_ps();
    for (std::int64_t k = 0; k < w.cols; ++k) {
      prefetch<M>(w.section + k * kStep, kStep);
      const __m256 weights = load_weights<type>(w.section + k * kStep + row * kWidth);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m)
        sums[m] = _mm256_fmadd_ps(weights, _mm256_set1_ps(x[m * w.cols + k]), sums[m]);
    }
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) _mm256_storeu_ps(out + m * kLanes + row, sums[m]);
  }
}

template <WeightType type, Grain grain, int M>
void multiply(const Inputs& w, const Rows& x, float* sums) {
  if constexpr (is_float(type)) {
    multiply_floats<type, M>(w, x.floats, sums);
    return;
  }
  for (int i = 0; i < M * kLanes; ++i) sums[i] = 0;
  if constexpr (grain == Grain::WIDE) {
    for_each_wide_block<type, M>(w, x,
                                 [&](const std::byte* header, const std::byte* quants,
                                     std::int64_t part, const WideBlock<M>& block) {
                                   constexpr std::int64_t kRows = kHalf * kHalves<type, M>;
#pragma GCC unroll 1
                                   for (std::int64_t row = 0; row < kLanes; row += kRows)
                                     add_wide<type, M>(header, quants, part, row, block,
                                                       sums + row);
                                 });
  } else if constexpr (!is_float(type)) {
    for_each_block<type, M>(w, x,
                            [&](const std::byte* header, const std::byte* quants, std::int64_t part,
                                const NarrowBlock<M>& block) {
                              for (std::int64_t row = 0; row < kLanes; row += kHalf)
                                add_block<type, M>(quants + 4 * row,
                                                   load_scales<type>(header, part, row), block,
                                                   sums + row);
                            });
  }
}

}  // namespace
}  // namespace redline::kernels
