// SPDX-License-Identifier: Apache-2.0
// vpdpbusd on 256 bits, in the encoding that the file is compiled for. File local: see layout.hpp.
#pragma once
#include <immintrin.h>

namespace redline::kernels {
namespace {

inline __m256i dot_bytes(__m256i sum, __m256i w, __m256i x) {
#ifdef __AVXVNNI__
  return _mm256_dpbusd_avx_epi32(sum, w, x);
#else
  return _mm256_dpbusd_epi32(sum, w, x);
#endif
}

}  // namespace
}  // namespace redline::kernels
