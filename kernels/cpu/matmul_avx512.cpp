// SPDX-License-Identifier: Apache-2.0
// Weights as the unsigned operand of vpdpbusd, four activations broadcast as the signed one: a lane
// is an output row. A block is decoded once for all rows of a pass.
#include <immintrin.h>

#include "families.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kAheadBytes = 3072;  // of the prefetch

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
  if constexpr (type == WeightType::Q8_0)
    return _mm512_xor_si512(load(quants + 64 * j), _mm512_set1_epi8(static_cast<char>(0x80)));
  const __m512i pair = load(quants + 64 * (j / 2));
  const __m512i low =
      _mm512_and_si512(j % 2 ? _mm512_srli_epi16(pair, 4) : pair, _mm512_set1_epi8(15));
  constexpr bool kFive = type == WeightType::Q5_0 || type == WeightType::Q5_K;
  if constexpr (!kFive && type != WeightType::Q6_K) return low;
  const __m512i plane = load(quants + 256 + (kFive ? 0 : 64 * (j / 4)));
  const int shift = kFive ? j - 4 : 2 * (j % 4) - 4;  // brings the high bits to bit 4
  const __m512i high = shift < 0   ? _mm512_slli_epi16(plane, static_cast<unsigned>(-shift))
                       : shift > 0 ? _mm512_srli_epi16(plane, static_cast<unsigned>(shift))
                                   : plane;
  const __m512i mask = _mm512_set1_epi8(kFive ? 0x10 : 0x30);
  return _mm512_ternarylogic_epi32(low, high, mask, 0xf8);  // low | (high & mask)
}

// What the 32 inputs of a block share, per row.
struct Scales {
  __m512 scale, min;  // min: added times the sum of x
  __m512 half[2];     // Q6_K: of 16 inputs each
};

template <WeightType type>
struct Header {
  __m512 d, m;
  explicit Header(const std::byte* at) : d(load_halves(at)), m(_mm512_setzero_ps()) {
    if constexpr (info(type).header_bytes > 32 && type != WeightType::Q6_K)
      m = load_halves(at + 32);
  }
  Scales part(const std::byte* at, std::int64_t index) const {
    Scales s{d, m, {}};
    if constexpr (type == WeightType::Q6_K) {
      s.half[0] = load_s8(at + 32 + 32 * index);
      s.half[1] = load_s8(at + 48 + 32 * index);
    } else if constexpr (has_sub_scales(type)) {
      s.scale = _mm512_mul_ps(d, load_u8(at + 64 + 32 * index));
      s.min = _mm512_mul_ps(m, load_u8(at + 80 + 32 * index));
    }
    return s;
  }
};

struct Activations {  // of one pass, at its first row
  const std::byte* row;
  std::int64_t stride;
  RowLayout at;
  const std::int32_t* fours(std::int64_t m) const {
    return reinterpret_cast<const std::int32_t*>(row + m * stride);
  }
  __m512 floats(std::int64_t offset, std::int64_t m, std::int64_t b) const {
    return _mm512_set1_ps(reinterpret_cast<const float*>(row + m * stride + offset)[b]);
  }
  __m512i ints(std::int64_t offset, std::int64_t m, std::int64_t b) const {
    return _mm512_set1_epi32(reinterpret_cast<const std::int32_t*>(row + m * stride + offset)[b]);
  }
};

// Groups [first, first + count) of block b, added to dot [M].
template <WeightType type, int M>
inline void dot_groups(const std::byte* quants, const Activations& x, std::int64_t b, int first,
                       int count, __m512i* dot) {
#pragma GCC unroll 8
  for (int j = first; j < first + count; ++j) {
    const __m512i w = group<type>(quants, j);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      dot[m] = _mm512_dpbusd_epi32(dot[m], w, _mm512_set1_epi32(x.fours(m)[b * 8 + j]));
  }
}

template <WeightType type, int M>
inline void add_block(const std::byte* quants, const Scales& s, const Activations& x,
                      std::int64_t b, __m512* sums) {
  constexpr int kOffset = type == WeightType::Q8_0 ? 128 : info(type).offset;
  constexpr unsigned kShift = __builtin_ctz(kOffset | 1 << 30);
  constexpr bool kHasMin =
      type == WeightType::Q4_1 || type == WeightType::Q4_K || type == WeightType::Q5_K;
  __m512i dot[M];
  __m512 products[M];
  if constexpr (type == WeightType::Q6_K) {
    __m512i second[M];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      dot[m] = _mm512_slli_epi32(x.ints(x.at.minus_half_sum, m, 2 * b), kShift);
      second[m] = _mm512_slli_epi32(x.ints(x.at.minus_half_sum, m, 2 * b + 1), kShift);
    }
    dot_groups<type, M>(quants, x, b, 0, 4, dot);
    dot_groups<type, M>(quants, x, b, 4, 4, second);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)  // both sums stay below 2^24: exact
      products[m] = _mm512_fmadd_ps(s.half[1], _mm512_cvtepi32_ps(second[m]),
                                    _mm512_mul_ps(s.half[0], _mm512_cvtepi32_ps(dot[m])));
  } else {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      dot[m] = kOffset ? _mm512_slli_epi32(x.ints(x.at.minus_sum, m, b), kShift)
                       : _mm512_setzero_si512();
    dot_groups<type, M>(quants, x, b, 0, 8, dot);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) products[m] = _mm512_cvtepi32_ps(dot[m]);
  }
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
    const __m512 scale = _mm512_mul_ps(s.scale, x.floats(x.at.scale, m, b));
    sums[m] = _mm512_fmadd_ps(scale, products[m], sums[m]);
    if constexpr (type == WeightType::Q4_1)
      sums[m] = _mm512_fmadd_ps(s.min, x.floats(x.at.scaled_sum, m, b), sums[m]);
    else if constexpr (kHasMin)
      sums[m] = _mm512_fnmadd_ps(s.min, x.floats(x.at.scaled_sum, m, b), sums[m]);
  }
}

inline void prefetch(const std::byte* at, std::int64_t bytes) {
  for (std::int64_t line = 0; line < bytes; line += 64)
    _mm_prefetch(reinterpret_cast<const char*>(at + line), _MM_HINT_T0);
}

template <WeightType type>
inline __m512 load_weights(const std::byte* at) {
  if constexpr (type == WeightType::F32) return _mm512_loadu_ps(at);
  if constexpr (type == WeightType::F16) return load_halves(at);
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

template <WeightType type, int M>
void multiply_floats(const std::byte* tile, std::int64_t cols, const Activations& x, __m512* sums) {
  constexpr std::int64_t kStep = kLanes * info(type).block_bytes;
  for (std::int64_t k = 0; k < cols; ++k) {
    _mm_prefetch(reinterpret_cast<const char*>(tile + k * kStep + kAheadBytes), _MM_HINT_T0);
    const __m512 w = load_weights<type>(tile + k * kStep);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) sums[m] = _mm512_fmadd_ps(w, x.floats(x.at.floats, m, k), sums[m]);
  }
}

template <WeightType type, int M>
void multiply(const std::byte* tile, std::int64_t cols, const Activations& x, float* out) {
  __m512 sums[M];
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) sums[m] = _mm512_setzero_ps();
  if constexpr (is_float(type)) {
    multiply_floats<type, M>(tile, cols, x, sums);
  } else {
    constexpr std::int64_t kParts = info(type).block_weights / kBlock;
    constexpr std::int64_t kQuants = info(type).quant_bytes, kHeader = info(type).header_bytes;
    const std::byte* header_at = tile;
    const std::byte* quants = tile + quants_offset(type, cols);
    for (std::int64_t b = 0; b < cols / kBlock; header_at += kHeader) {
      const Header<type> header(header_at);
      prefetch(header_at + (kParts > 1 ? kHeader * 2 : 512), kHeader);
      for (std::int64_t part = 0; part < kParts; ++part, ++b, quants += kQuants) {
        prefetch(quants + kAheadBytes, kQuants);
        add_block<type, M>(quants, header.part(header_at, part), x, b, sums);
      }
    }
  }
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) _mm512_storeu_ps(out + m * kLanes, sums[m]);
}

using Multiply = void (*)(const std::byte*, std::int64_t, const Activations&, float*);

template <WeightType type>
constexpr Multiply kMultiply[kMaxRowsPerPass + 1] = {
    nullptr,           multiply<type, 1>, multiply<type, 2>, multiply<type, 3>, multiply<type, 4>,
    multiply<type, 5>, multiply<type, 6>, multiply<type, 7>, multiply<type, 8>};

const Multiply* multiplies(WeightType type) {
  switch (type) {
    case WeightType::F32:
      return kMultiply<WeightType::F32>;
    case WeightType::F16:
      return kMultiply<WeightType::F16>;
    case WeightType::BF16:
      return kMultiply<WeightType::BF16>;
    case WeightType::Q4_0:
      return kMultiply<WeightType::Q4_0>;
    case WeightType::Q4_1:
      return kMultiply<WeightType::Q4_1>;
    case WeightType::Q5_0:
      return kMultiply<WeightType::Q5_0>;
    case WeightType::Q8_0:
      return kMultiply<WeightType::Q8_0>;
    case WeightType::Q4_K:
      return kMultiply<WeightType::Q4_K>;
    case WeightType::Q5_K:
      return kMultiply<WeightType::Q5_K>;
    default:
      return kMultiply<WeightType::Q6_K>;
  }
}

// sums [count, 16] of the tile's rows [first, first + width) to out.
void store(const float* sums, std::int64_t count, std::int64_t width, const float* bias, float* out,
           std::int64_t out_stride) {
  const __mmask16 mask = static_cast<__mmask16>((1u << width) - 1);
  const __m512 shift = bias ? _mm512_maskz_loadu_ps(mask, bias) : _mm512_setzero_ps();
  for (std::int64_t m = 0; m < count; ++m) {
    const __m512 sum = _mm512_loadu_ps(sums + m * kLanes);
    _mm512_mask_storeu_ps(out + m * out_stride, mask, bias ? _mm512_add_ps(sum, shift) : sum);
  }
}

void matmul(const PackedMatrix& w, const std::byte* x, std::int64_t rows, const float* bias,
            float* out, std::int64_t out_stride, Range tiles) {
  const RowLayout at = row_layout(w.cols);
  const std::int64_t tile_stride = bytes_of_tile(w.type, w.cols);
  const Multiply* const kernels = multiplies(w.type);
  const std::int64_t passes = (rows + kMaxRowsPerPass - 1) / kMaxRowsPerPass;
  alignas(64) float sums[kMaxRowsPerPass * kLanes];
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const std::int64_t n = tile * kLanes, width = w.rows - n < kLanes ? w.rows - n : kLanes;
    for (std::int64_t pass = 0; pass < passes; ++pass) {
      const std::int64_t first = rows * pass / passes, count = rows * (pass + 1) / passes - first;
      const Activations rows_of_pass{x + first * at.stride, at.stride, at};
      kernels[count](w.data + tile * tile_stride, w.cols, rows_of_pass, sums);
      store(sums, count, width, bias ? bias + n : nullptr, out + first * out_stride + n,
            out_stride);
    }
  }
}

}  // namespace

void install_avx512_matmul(Ops& ops) { ops.matmul = matmul; }

}  // namespace redline::kernels
