// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "cpu/peak.hpp"

namespace redline::kernels {
namespace {

constexpr int kTiles = 2, kRows = 8, kBlockBytes = 256;  // 16 sums in registers: the fastest shape

std::int64_t multiply_adds(std::int64_t rounds) {
  PeakOperands<kTiles, kRows, kBlockBytes> of;
  const __m512i low = _mm512_set1_epi8(15);
  __m512i sums[kTiles][kRows] = {};
  for (std::int64_t round = 0; round < rounds; ++round) {
    anything_may_change(of);
    for (int b = 0; b < kPeakBlocks; ++b) {
#pragma GCC unroll 8
      for (int j = 0; j < kPeakGroups; ++j) {
        __m512i w[kTiles];
#pragma GCC unroll 8
        for (int tile = 0; tile < kTiles; ++tile) {
          const __m512i pair = _mm512_load_si512(of.weights[tile][b] + 64 * (j / 2));
          w[tile] = _mm512_and_si512(j % 2 ? _mm512_srli_epi16(pair, 4) : pair, low);
        }
#pragma GCC unroll 8
        for (int m = 0; m < kRows; ++m) {
          const __m512i x = _mm512_set1_epi32(of.x[m][b * kPeakGroups + j]);
#pragma GCC unroll 8
          for (int tile = 0; tile < kTiles; ++tile)
            sums[tile][m] = _mm512_dpbusd_epi32(sums[tile][m], w[tile], x);
        }
      }
    }
  }
  anything_may_change(sums);
  return rounds * kPeakBlocks * kPeakGroups * 64 * kTiles * kRows;
}

std::int64_t fmas(std::int64_t rounds) {
  constexpr int kSums = 12;
  __m512 x = _mm512_setzero_ps(), y = x, sums[kSums] = {};
  anything_may_change(x), anything_may_change(y), anything_may_change(sums);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = _mm512_fmadd_ps(x, y, sums[i]);
  }
  anything_may_change(sums);
  return rounds * kSums * 16;
}

}  // namespace

const PeakLoops& avx512_peak_loops() {
  static constexpr PeakLoops loops{multiply_adds, fmas};
  return loops;
}

}  // namespace redline::kernels
