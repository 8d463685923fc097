// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include "cpu/peak.hpp"

namespace redline::kernels {
namespace {

constexpr int kRows = 8, kBlockBytes = 128;  // with half a tile the fastest shape

// The compiler would keep all products of a block alive at once, and spill them.
inline void now(__m256i& sum) { asm volatile("" : "+x"(sum)); }

std::int64_t multiply_adds(std::int64_t rounds) {
  PeakOperands<1, kRows, kBlockBytes> of;
  const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
  __m256i sums[kRows] = {};
  for (std::int64_t round = 0; round < rounds; ++round) {
    anything_may_change(of);
    for (int b = 0; b < kPeakBlocks; ++b) {
      __m256i pairs[kRows];
#pragma GCC unroll 8
      for (int j = 0; j < kPeakGroups; ++j) {
        const __m256i pair =
            _mm256_load_si256(reinterpret_cast<const __m256i*>(of.weights[0][b] + 32 * (j / 2)));
        const __m256i w = _mm256_and_si256(j % 2 ? _mm256_srli_epi16(pair, 4) : pair, low);
#pragma GCC unroll 8
        for (int m = 0; m < kRows; ++m) {
          const __m256i x = _mm256_set1_epi32(of.x[m][b * kPeakGroups + j]);
          const __m256i product = _mm256_maddubs_epi16(w, x);
          pairs[m] = j == 0 ? product : _mm256_add_epi16(pairs[m], product);
          now(pairs[m]);
        }
      }
#pragma GCC unroll 8
      for (int m = 0; m < kRows; ++m)
        sums[m] = _mm256_add_epi32(sums[m], _mm256_madd_epi16(pairs[m], ones));
    }
  }
  anything_may_change(sums);
  return rounds * kPeakBlocks * kPeakGroups * 32 * kRows;
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
