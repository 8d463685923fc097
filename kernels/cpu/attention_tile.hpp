// SPDX-License-Identifier: Apache-2.0
// K and V of sixteen positions as float32, K turned so that a lane is a position. Include after a
// lanes_*.hpp.
#pragma once
#include "layout.hpp"

namespace redline::kernels {
namespace {

struct TileRows {  // where the positions of a tile lie
  const std::uint16_t* key[kLanes];
  const std::uint16_t* value[kLanes];
};

// Eight halves of one row, zeros behind the last.
inline __m128i load_eight(const std::uint16_t* at, std::int64_t left) {
  if (left >= 8) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  std::uint16_t halves[8] = {};
  __builtin_memcpy(halves, at, static_cast<unsigned long>(left) * sizeof(std::uint16_t));
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves));
}

// Columns [e, e + 8) of sixteen rows: rows i and i + 8 share a register, three rounds of unpacking
// turn both 8 x 8 halves at once.
inline void turn_eight(const std::uint16_t* const* rows, std::int64_t e, std::int64_t left,
                       float* out) {
  __m256i a[8], b[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i)
    a[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(load_eight(rows[i] + e, left)),
                                   load_eight(rows[i + 8] + e, left), 1);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = _mm256_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm256_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_unpacklo_epi32(b[i], b[i + 2]);
    a[i + 1] = _mm256_unpackhi_epi32(b[i], b[i + 2]);
    a[i + 2] = _mm256_unpacklo_epi32(b[i + 1], b[i + 3]);
    a[i + 3] = _mm256_unpackhi_epi32(b[i + 1], b[i + 3]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    store(out + 2 * i * kLanes, from_halves(_mm256_unpacklo_epi64(a[i], a[i + 4])));
    store(out + (2 * i + 1) * kLanes, from_halves(_mm256_unpackhi_epi64(a[i], a[i + 4])));
  }
}

inline std::int64_t round_up(std::int64_t size, std::int64_t step) {
  return (size + step - 1) / step * step;
}

// keys [E rounded to 8, 16]
inline void load_keys(const TileRows& rows, std::int64_t head_size, float* keys) {
  for (std::int64_t e = 0; e < head_size; e += 8)
    turn_eight(rows.key, e, head_size - e, keys + e * kLanes);
}

// values [16, E rounded to 16]; the first count rows.
inline void load_values(const TileRows& rows, std::int64_t count, std::int64_t head_size,
                        float* values) {
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t e = 0; e < head_size; e += kLanes, values += kLanes) {
      const __m128i low = load_eight(rows.value[i] + e, head_size - e);
      const __m128i high = head_size - e > 8 ? load_eight(rows.value[i] + e + 8, head_size - e - 8)
                                             : _mm_setzero_si128();
      store(values, from_halves(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1)));
    }
  }
}

}  // namespace
}  // namespace redline::kernels
