// SPDX-License-Identifier: Apache-2.0
// The walk of the matmul over tiles and rows; an instruction set gives it multiply<type, rows>.
// File local: see layout.hpp.
#pragma once
#include <immintrin.h>

#include "layout.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

struct Activations {  // of one pass, at its first row
  const std::byte* row;
  std::int64_t stride;
  RowLayout at;

  const float& real(std::int64_t offset, std::int64_t m, std::int64_t index) const {
    return reinterpret_cast<const float*>(row + m * stride + offset)[index];
  }
  const std::int32_t& integer(std::int64_t offset, std::int64_t m, std::int64_t index) const {
    return reinterpret_cast<const std::int32_t*>(row + m * stride + offset)[index];
  }
};

struct Inputs {  // of one tile
  const std::byte* headers;
  std::int64_t part;  // of the first header
  const std::byte* quants;
  std::int64_t cols;
};

// One tile and M rows -> sums [M, 16].
template <WeightType type, int M>
void multiply(const Inputs& w, const Activations& x, float* sums);

using Multiply = void (*)(const Inputs&, const Activations&, float*);

template <WeightType type>
constexpr Multiply kMultiply[kMaxRowsPerPass + 1] = {
    nullptr,           multiply<type, 1>, multiply<type, 2>, multiply<type, 3>, multiply<type, 4>,
    multiply<type, 5>, multiply<type, 6>, multiply<type, 7>, multiply<type, 8>};

inline const Multiply* multiplies(WeightType type) {
  switch (type) {
    case WeightType::F32:
      return kMultiply<WeightType::F32>;
    case WeightType::F16:
      return kMultiply<WeightType::F16>;
    case WeightType::BF16:
      return kMultiply<WeightType::BF16>;
    case WeightType::Q4_0:
      return kMultiply<WeightType::Q4_0>;
    case WeightType::Q4_1:
      return kMultiply<WeightType::Q4_1>;
    case WeightType::Q5_0:
      return kMultiply<WeightType::Q5_0>;
    case WeightType::Q8_0:
      return kMultiply<WeightType::Q8_0>;
    case WeightType::Q4_K:
      return kMultiply<WeightType::Q4_K>;
    case WeightType::Q5_K:
      return kMultiply<WeightType::Q5_K>;
    default:
      return kMultiply<WeightType::Q6_K>;
  }
}

// How an integer product becomes a float one, per type.
constexpr bool has_min(WeightType type) {
  return type == WeightType::Q4_1 || type == WeightType::Q4_K || type == WeightType::Q5_K;
}
constexpr bool five_bits(WeightType type) {
  return type == WeightType::Q5_0 || type == WeightType::Q5_K;
}

// Weights are read once and in order. Far ahead into the second cache level, whose many outstanding
// reads fill the memory bus, then near ahead into the first.
constexpr std::int64_t kFarBytes = 12288, kNearBytes = 1024;

inline void prefetch(const std::byte* at, std::int64_t bytes) {
  for (std::int64_t line = 0; line < bytes; line += 64) {
    _mm_prefetch(reinterpret_cast<const char*>(at + line + kFarBytes), _MM_HINT_T1);
    _mm_prefetch(reinterpret_cast<const char*>(at + line + kNearBytes), _MM_HINT_T0);
  }
}
// Headers are few: near ahead only, each line once.
inline void prefetch_header(const std::byte* at, std::int64_t bytes) {
  for (std::int64_t line = 0; line < bytes; line += 64)
    _mm_prefetch(reinterpret_cast<const char*>(at + line), _MM_HINT_T0);
}

// Calls block(header, quants, part, b) for every 32 inputs, b-th of the row, part-th of its header.
template <WeightType type, class Body>
inline void for_each_block(const Inputs& w, Body block) {
  constexpr std::int64_t kParts = info(type).block_weights / kBlock;
  constexpr std::int64_t kHeader = info(type).header_bytes, kQuants = info(type).quant_bytes;
  const std::byte* header = w.headers;
  const std::byte* quants = w.quants;
  std::int64_t part = kParts > 1 ? w.part : 0;
  for (std::int64_t b = 0; b < w.cols / kBlock; header += kHeader, part = 0) {
    prefetch_header(header + (kParts > 1 ? kHeader * 2 : 512), kHeader);
    const std::int64_t left = part + w.cols / kBlock - b;
    const std::int64_t end = kParts > 1 && left < kParts ? left : kParts;
    for (; part < end; ++part, ++b, quants += kQuants) {
      prefetch(quants, kQuants);
      block(header, quants, part, b);
    }
  }
}

// sums [count, 16] to columns [0, width) of out.
inline void store_sums(const float* sums, std::int64_t count, std::int64_t width, const float* bias,
                       float* out, std::int64_t out_stride) {
  for (std::int64_t m = 0; m < count; ++m)
    for (std::int64_t n = 0; n < width; ++n)
      out[m * out_stride + n] = bias ? sums[m * kLanes + n] + bias[n] : sums[m * kLanes + n];
}

void matmul(const PackedMatrix& w, const std::byte* x, std::int64_t rows, const float* bias,
            float* out, std::int64_t out_stride, Range tiles) {
  const RowLayout at = row_layout(w.cols);
  const TileWalk walk = walk_of(w);
  const Multiply* const kernels = multiplies(w.type);
  const std::int64_t passes = (rows + kMaxRowsPerPass - 1) / kMaxRowsPerPass;
  alignas(64) float sums[kMaxRowsPerPass * kLanes];
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const std::int64_t n = tile * kLanes, width = w.rows - n < kLanes ? w.rows - n : kLanes;
    const std::byte* const data = w.data + tile * walk.tile_bytes;
    const Inputs inputs{data + walk.header, walk.part, data + walk.quants, w.cols};
    for (std::int64_t pass = 0; pass < passes; ++pass) {
      const std::int64_t first = rows * pass / passes, count = rows * (pass + 1) / passes - first;
      const Activations rows_of_pass{x + first * at.stride, at.stride, at};
      kernels[count](inputs, rows_of_pass, sums);
      store_sums(sums, count, width, bias ? bias + n : nullptr, out + first * out_stride + n,
                 out_stride);
    }
  }
}

}  // namespace
}  // namespace redline::kernels
