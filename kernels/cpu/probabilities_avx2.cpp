// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <cstdint>

namespace redline::kernels {
namespace {

constexpr std::int64_t kWords = 4;
struct Words {
  __m256i all;
};

inline Words splat(std::uint32_t x) { return {_mm256_set1_epi64x(x)}; }
inline Words rising_from(std::uint32_t x) {
  return {_mm256_add_epi64(_mm256_set1_epi64x(x), _mm256_setr_epi64x(0, 1, 2, 3))};
}
inline Words product(Words x, Words y) { return {_mm256_mul_epu32(x.all, y.all)}; }
inline Words high_half(Words x) { return {_mm256_srli_epi64(x.all, 32)}; }
inline Words operator^(Words x, Words y) { return {_mm256_xor_si256(x.all, y.all)}; }
// The upper 52 of the 64 bits of two low halves.
inline Words cell(Words high, Words low) {
  const __m256i bits = _mm256_blend_epi32(_mm256_slli_epi64(high.all, 32), low.all, 0x55);
  return {_mm256_srli_epi64(bits, 12)};
}
inline void store(std::uint64_t* at, Words x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), x.all);
}

}  // namespace
}  // namespace redline::kernels
//
#include "cpu/race.hpp"
#include "families.hpp"
#include "weight_passes.hpp"

namespace redline::kernels {

void install_avx2_probabilities(ProbabilityOps& ops) {
  install_weight_passes(ops);
  ops.race = race;
}

}  // namespace redline::kernels
