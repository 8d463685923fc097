// SPDX-License-Identifier: Apache-2.0
// Weights as the unsigned operand of vpmaddubsw, four activations broadcast as the signed one: a
// lane is an output row, a tile is two halves of eight rows. Sums of 16 bits are widened before
// they could saturate: |x| <= 127, so a pair of products stays below 2 * 127 * 2^bits.
#include "cpu/matmul.hpp"
#include "families.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kHalf = 8;  // rows of a register

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
inline __m256 load_s8(const std::byte* at) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(load_eight_bytes(at)));
}

// Group j of a block's quants as bytes, 8 rows x 4 inputs. `quants` stands at the half.
template <WeightType type>
inline __m256i group(const std::byte* quants, int j) {
  if constexpr (type == WeightType::Q8_0) {
    return load(quants + 64 * j);
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

// Groups whose 16-bit sums fit: 8 * 2 * 15 * 127, 4 * 2 * 31 * 127 and 2 * 2 * 63 * 127 are below
// 2^15; so is one pair of |int8| * 127, with the sign moved to x.
constexpr int groups_in_16_bits(WeightType type) {
  return type == WeightType::Q8_0 ? 1 : type == WeightType::Q6_K ? 2 : five_bits(type) ? 4 : 8;
}

template <WeightType type>
inline __m256i pair_products(__m256i w, const std::int32_t& four) {
  const __m256i x = _mm256_set1_epi32(four);
  if constexpr (type == WeightType::Q8_0)
    return _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
  return _mm256_maddubs_epi16(w, x);
}

// Groups [first, first + count) of block b, added to dot [M].
template <WeightType type, int M>
inline void dot_groups(const std::byte* quants, const Activations& x, std::int64_t b, int first,
                       int count, __m256i* dot) {
  constexpr int kRun = groups_in_16_bits(type);
#pragma GCC unroll 8
  for (int run = first; run < first + count; run += kRun) {
    __m256i pairs[M];
#pragma GCC unroll 8
    for (int j = run; j < run + kRun; ++j) {
      const __m256i w = group<type>(quants, j);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m) {
        const __m256i product = pair_products<type>(w, x.integer(0, m, b * 8 + j));
        pairs[m] = j == run ? product : _mm256_add_epi16(pairs[m], product);
      }
    }
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      dot[m] = _mm256_add_epi32(dot[m], _mm256_madd_epi16(pairs[m], _mm256_set1_epi16(1)));
  }
}

// What the 32 inputs of a block share, per row of a half.
struct Scales {
  __m256 scale, min;  // min: added times the sum of x
  __m256 half[2];     // Q6_K: of 16 inputs each
};

template <WeightType type>
inline Scales load_scales(const std::byte* header, std::int64_t part, std::int64_t row) {
  Scales s{load_halves(header + 2 * row), _mm256_setzero_ps(), {}};
  if constexpr (has_min(type)) s.min = load_halves(header + 32 + 2 * row);
  if constexpr (type == WeightType::Q6_K) {
    s.half[0] = load_s8(header + 32 + 32 * part + row);
    s.half[1] = load_s8(header + 48 + 32 * part + row);
  } else if constexpr (has_sub_scales(type)) {
    s.scale = _mm256_mul_ps(s.scale, load_u8(header + 64 + 32 * part + row));
    s.min = _mm256_mul_ps(s.min, load_u8(header + 80 + 32 * part + row));
  }
  return s;
}

// Integer products of a block as floats, exact: below 2^24.
template <WeightType type, int M>
inline void block_products(const std::byte* quants, const Scales& s, const Activations& x,
                           std::int64_t b, __m256* products) {
  constexpr int kShift = info(type).offset ? __builtin_ctz(info(type).offset) : 0;
  const auto minus_offset = [&](std::int64_t offset, int m, std::int64_t index) {
    if constexpr (info(type).offset == 0) return _mm256_setzero_si256();
    return _mm256_slli_epi32(_mm256_set1_epi32(x.integer(offset, m, index)), kShift);
  };
  __m256i dot[M];
  if constexpr (type == WeightType::Q6_K) {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) dot[m] = minus_offset(x.at.minus_half_sum, m, 2 * b);
    dot_groups<type, M>(quants, x, b, 0, 4, dot);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) {
      products[m] = _mm256_mul_ps(s.half[0], _mm256_cvtepi32_ps(dot[m]));
      dot[m] = minus_offset(x.at.minus_half_sum, m, 2 * b + 1);
    }
    dot_groups<type, M>(quants, x, b, 4, 4, dot);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m)
      products[m] = _mm256_fmadd_ps(s.half[1], _mm256_cvtepi32_ps(dot[m]), products[m]);
  } else {
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) dot[m] = minus_offset(x.at.minus_sum, m, b);
    dot_groups<type, M>(quants, x, b, 0, 8, dot);
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) products[m] = _mm256_cvtepi32_ps(dot[m]);
  }
}

// sums [M, 16] in memory: the integers want the registers.
template <WeightType type, int M>
inline void add_block(const std::byte* quants, const Scales& s, const Activations& x,
                      std::int64_t b, float* sums) {
  __m256 products[M];
  block_products<type, M>(quants, s, x, b, products);
#pragma GCC unroll 8
  for (int m = 0; m < M; ++m) {
    const __m256 scale = _mm256_mul_ps(s.scale, _mm256_set1_ps(x.real(x.at.scale, m, b)));
    __m256 sum = _mm256_fmadd_ps(scale, products[m], _mm256_load_ps(sums + m * kLanes));
    if constexpr (has_min(type)) {
      const __m256 x_sum = _mm256_set1_ps(x.real(x.at.scaled_sum, m, b));
      sum = type == WeightType::Q4_1 ? _mm256_fmadd_ps(s.min, x_sum, sum)
                                     : _mm256_fnmadd_ps(s.min, x_sum, sum);
    }
    _mm256_store_ps(sums + m * kLanes, sum);
  }
}

template <WeightType type>
inline __m256 load_weights(const std::byte* at) {
  if constexpr (type == WeightType::F32) return _mm256_loadu_ps(reinterpret_cast<const float*>(at));
  if constexpr (type == WeightType::F16) return load_halves(at);
  const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

template <WeightType type, int M>
inline void multiply_floats(const Inputs& inputs, const Activations& x, float* out) {
  constexpr std::int64_t kWidth = info(type).block_bytes, kStep = kLanes * kWidth;
  for (std::int64_t row = 0; row < kLanes; row += kHalf) {
    __m256 sums[M];
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) sums[m] = _mm256_setzero_ps();
    for (std::int64_t k = 0; k < inputs.cols; ++k) {
      prefetch(inputs.quants + k * kStep, kStep);
      const __m256 w = load_weights<type>(inputs.quants + k * kStep + row * kWidth);
#pragma GCC unroll 8
      for (int m = 0; m < M; ++m)
        sums[m] = _mm256_fmadd_ps(w, _mm256_set1_ps(x.real(x.at.floats, m, k)), sums[m]);
    }
#pragma GCC unroll 8
    for (int m = 0; m < M; ++m) _mm256_storeu_ps(out + m * kLanes + row, sums[m]);
  }
}

template <WeightType type, int M>
void multiply(const Inputs& w, const Activations& x, float* sums) {
  if constexpr (is_float(type)) {
    multiply_floats<type, M>(w, x, sums);
  } else {
    for (int i = 0; i < M * kLanes; ++i) sums[i] = 0;
    for_each_block<type>(w, [&](const std::byte* header, const std::byte* quants, std::int64_t part,
                                std::int64_t b) {
      for (std::int64_t row = 0; row < kLanes; row += kHalf)
        add_block<type, M>(quants + 4 * row, load_scales<type>(header, part, row), x, b,
                           sums + row);
    });
  }
}

}  // namespace

void install_avx2_matmul(Ops& ops) { ops.matmul = matmul; }

}  // namespace redline::kernels
