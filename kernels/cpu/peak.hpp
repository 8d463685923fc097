// SPDX-License-Identifier: Apache-2.0
// What the peak loops of all instruction sets share. File local: see layout.hpp.
#pragma once
#include <cstdint>

#include "redline/kernels/peak.hpp"

namespace redline::kernels {

const PeakLoops& avx2_peak_loops();
std::int64_t avx_vnni_multiply_adds(std::int64_t rounds);
std::int64_t avx_vnni_multiply_adds_of_avx512(std::int64_t rounds);  // the same in its encoding
const PeakLoops& avx512_peak_loops();

namespace {

constexpr int kPeakBlocks = 8, kPeakGroups = 8;  // of 32 and of 4 inputs

// Of TILES tiles of weights, kTileBytes each, and ROWS rows of activations.
template <int TILES, int ROWS, int TILE_BYTES>
struct PeakOperands {
  alignas(64) std::uint8_t weights[TILES][kPeakBlocks][TILE_BYTES] = {};
  alignas(64) std::int32_t x[ROWS][kPeakBlocks * kPeakGroups] = {};
};

// The compiler must take it that all memory changes here, and that the object is read.
template <class T>
inline void anything_may_change(T& object) {
  asm volatile("" : : "r"(&object) : "memory");
}

}  // namespace
}  // namespace redline::kernels
