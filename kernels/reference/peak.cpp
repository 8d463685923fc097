// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/peak.hpp"

#include <cstring>

#include "cpu/peak.hpp"
#include "cpu_features.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

constexpr int kLanes = 16;
constexpr std::int64_t kLine = 64, kAheadBytes = 4096;

std::int64_t multiply_adds(std::int64_t rounds) {
  PeakOperands<1, 1, kLanes> of;
  std::int32_t sums[kLanes] = {};
  for (std::int64_t round = 0; round < rounds; ++round) {
    anything_may_change(of);
    for (int b = 0; b < kPeakBlocks; ++b)
      for (int j = 0; j < kPeakGroups; ++j)
        for (int lane = 0; lane < kLanes; ++lane)
          sums[lane] += (of.weights[0][b][lane] >> j % 2 * 4 & 15) * of.x[0][b * kPeakGroups + j];
  }
  anything_may_change(sums);
  return rounds * kPeakBlocks * kPeakGroups * kLanes;
}

std::int64_t fmas(std::int64_t rounds) {  // a multiply and an add: no instruction for both
  constexpr int kSums = 48;
  float x = 0, y = 0, sums[kSums] = {};
  anything_may_change(x), anything_may_change(y), anything_may_change(sums);
  for (std::int64_t round = 0; round < rounds; ++round)
    for (float& sum : sums) sum = x * sum + y;
  anything_may_change(sums);
  return rounds * kSums;
}

// One word of a line brings all of it.
template <std::int64_t AHEAD>
void read_lines(std::span<const std::byte> memory) {
  std::uint64_t sum = 0;
  for (std::int64_t at = 0; at + kLine <= std::ssize(memory); at += kLine) {
    std::uint64_t word;
    std::memcpy(&word, memory.data() + at, sizeof word);
    if constexpr (AHEAD > 0) __builtin_prefetch(memory.data() + at + AHEAD, 0, 2);
    sum += word;
  }
  anything_may_change(sum);
}

}  // namespace

const PeakLoops& peak_loops(Isa isa) {
  static constexpr PeakLoops portable{multiply_adds, fmas};
  static const PeakLoops avx_vnni{
      has_avx_vnni() ? avx_vnni_multiply_adds : avx_vnni_multiply_adds_of_avx512,
      avx2_peak_loops().fmas};
  switch (ops(isa).isa) {
    case Isa::PORTABLE:
      return portable;
    case Isa::AVX512_VNNI:
      return avx512_peak_loops();
    case Isa::AVX_VNNI:
      return avx_vnni;
    default:
      return avx2_peak_loops();
  }
}

void read_once(std::span<const std::byte> memory, ReadAhead ahead) {
  ahead == ReadAhead::PREFETCH ? read_lines<kAheadBytes>(memory) : read_lines<0>(memory);
}

}  // namespace redline::kernels
