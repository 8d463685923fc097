// SPDX-License-Identifier: Apache-2.0
// Built twice, like matmul_avx_vnni.cpp.
#include <immintrin.h>

#include "cpu/dot_bytes.hpp"
#include "cpu/peak.hpp"

namespace redline::kernels {
namespace {

constexpr int kRows = 12, kBlockBytes = 128;  // half a tile: as many sums as registers allow

}  // namespace

#ifdef __AVXVNNI__
std::int64_t avx_vnni_multiply_adds(std::int64_t rounds) {
#else
std::int64_t avx_vnni_multiply_adds_of_avx512(std::int64_t rounds) {
#endif
  PeakOperands<1, kRows, kBlockBytes> of;
  const __m256i low = _mm256_set1_epi8(15);
  __m256i sums[kRows] = {};
  for (std::int64_t round = 0; round < rounds; ++round) {
    anything_may_change(of);
    for (int b = 0; b < kPeakBlocks; ++b) {
#pragma GCC unroll 8
      for (int j = 0; j < kPeakGroups; ++j) {
        const __m256i pair =
            _mm256_load_si256(reinterpret_cast<const __m256i*>(of.weights[0][b] + 32 * (j / 2)));
        const __m256i w = _mm256_and_si256(j % 2 ? _mm256_srli_epi16(pair, 4) : pair, low);
#pragma GCC unroll 16
        for (int m = 0; m < kRows; ++m)
          sums[m] = dot_bytes(sums[m], w, _mm256_set1_epi32(of.x[m][b * kPeakGroups + j]));
      }
    }
  }
  anything_may_change(sums);
  return rounds * kPeakBlocks * kPeakGroups * 32 * kRows;
}

}  // namespace redline::kernels
