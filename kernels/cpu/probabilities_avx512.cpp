// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <cstdint>

namespace redline::kernels {
namespace {

constexpr std::int64_t kWords = 8;
struct Words {
  __m512i all;
};

inline Words splat(std::uint32_t x) { return {_mm512_set1_epi64(x)}; }
inline Words rising_from(std::uint32_t x) {
  return {_mm512_add_epi64(_mm512_set1_epi64(x), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7))};
}
inline Words product(Words x, Words y) { return {_mm512_mul_epu32(x.all, y.all)}; }
inline Words high_half(Words x) { return {_mm512_srli_epi64(x.all, 32)}; }
inline Words operator^(Words x, Words y) { return {_mm512_xor_si512(x.all, y.all)}; }
// The upper 52 of the 64 bits of two low halves.
inline Words cell(Words high, Words low) {
  const __m512i bits = _mm512_mask_mov_epi32(_mm512_slli_epi64(high.all, 32), 0x5555, low.all);
  return {_mm512_srli_epi64(bits, 12)};
}
inline void store(std::uint64_t* at, Words x) { _mm512_storeu_si512(at, x.all); }

}  // namespace
}  // namespace redline::kernels
//
#include "cpu/race.hpp"
#include "families.hpp"
#include "weight_passes.hpp"

namespace redline::kernels {

void install_avx512_probabilities(ProbabilityOps& ops) {
  install_weight_passes(ops);
  ops.race = race;
}

}  // namespace redline::kernels
