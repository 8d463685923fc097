// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "cpu/peak.hpp"

namespace redline::kernels {
namespace {

constexpr int kHalves = 2, kRows = 3, kBlockBytes = 128;  // the fastest shape of 16 registers

std::int64_t multiply_adds(std::int64_t rounds) {
  PeakOperands<kHalves, kRows, kBlockBytes> of;
  const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
  __m256i sums[kHalves][kRows] = {};
  for (std::int64_t round = 0; round < rounds; ++round) {
    anything_may_change(of);
    for (int b = 0; b < kPeakBlocks; ++b) {
      __m256i pairs[kHalves][kRows];
#pragma GCC unroll 8
      for (int j = 0; j < kPeakGroups; ++j) {
        __m256i w[kHalves];
#pragma GCC unroll 2
        for (int half = 0; half < kHalves; ++half) {
          const __m256i pair = _mm256_load_si256(
              reinterpret_cast<const __m256i*>(of.weights[half][b] + 32 * (j / 2)));
          w[half] = _mm256_and_si256(j % 2 ? _mm256_srli_epi16(pair, 4) : pair, low);
        }
#pragma GCC unroll 8
        for (int m = 0; m < kRows; ++m) {
          const __m256i x = _mm256_set1_epi32(of.x[m][b * kPeakGroups + j]);
#pragma GCC unroll 2
          for (int half = 0; half < kHalves; ++half) {
            const __m256i product = _mm256_maddubs_epi16(w[half], x);
            pairs[half][m] = j == 0 ? product : _mm256_add_epi16(pairs[half][m], product);
          }
        }
      }
#pragma GCC unroll 2
      for (int half = 0; half < kHalves; ++half)
#pragma GCC unroll 8
        for (int m = 0; m < kRows; ++m)
          sums[half][m] = _mm256_add_epi32(sums[half][m], _mm256_madd_epi16(pairs[half][m], ones));
    }
  }
  anything_may_change(sums);
  return rounds * kPeakBlocks * kPeakGroups * 32 * kHalves * kRows;
}

std::int64_t fmas(std::int64_t rounds) {
  constexpr int kSums = 12;
  __m256 x = _mm256_setzero_ps(), y = x, sums[kSums] = {};
  anything_may_change(x), anything_may_change(y), anything_may_change(sums);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = _mm256_fmadd_ps(x, y, sums[i]);
  }
  anything_may_change(sums);
  return rounds * kSums * 8;
}

}  // namespace

const PeakLoops& avx2_peak_loops() {
  static constexpr PeakLoops loops{multiply_adds, fmas};
  return loops;
}

}  // namespace redline::kernels
