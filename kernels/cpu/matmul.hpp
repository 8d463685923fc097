// SPDX-License-Identifier: Apache-2.0
// The walk of the matmul over tiles and rows; an instruction set gives it kRowsAtPace and
// multiply<type, grain, rows>.
// File local: see layout.hpp.
#pragma once
#include <immintrin.h>

#include "layout.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

struct Rows {              // of one pass
  const std::byte* panel;  // NarrowBlock<M> [K / 32] or WideBlock<M> [K / 128]
  const float* floats;     // [M, K]
};

struct Inputs {  // of one tile
  const std::byte* section;
  std::int64_t part;  // of the section: the first 32 inputs
  std::int64_t cols;
};

// One tile and M rows -> sums [M, 16].
template <WeightType type, Grain grain, int M>
void multiply(const Inputs& w, const Rows& x, float* sums);

using Multiply = void (*)(const Inputs&, const Rows&, float*);

template <WeightType type, Grain grain>
constexpr Multiply kMultiply[kMaxRowsPerPass + 1] = {nullptr,
                                                     multiply<type, grain, 1>,
                                                     multiply<type, grain, 2>,
                                                     multiply<type, grain, 3>,
                                                     multiply<type, grain, 4>,
                                                     multiply<type, grain, 5>,
                                                     multiply<type, grain, 6>,
                                                     multiply<type, grain, 7>,
                                                     multiply<type, grain, 8>};

template <Grain grain>
inline const Multiply* multiplies_of_k_quants(WeightType type) {
  switch (type) {
    case WeightType::Q4_K:
      return kMultiply<WeightType::Q4_K, grain>;
    case WeightType::Q5_K:
      return kMultiply<WeightType::Q5_K, grain>;
    default:
      return kMultiply<WeightType::Q6_K, grain>;
  }
}

inline const Multiply* multiplies(WeightType type, Grain grain) {
  if (grain == Grain::WIDE) return multiplies_of_k_quants<Grain::WIDE>(type);
  switch (type) {
    case WeightType::F32:
      return kMultiply<WeightType::F32, Grain::NARROW>;
    case WeightType::F16:
      return kMultiply<WeightType::F16, Grain::NARROW>;
    case WeightType::BF16:
      return kMultiply<WeightType::BF16, Grain::NARROW>;
    case WeightType::Q4_0:
      return kMultiply<WeightType::Q4_0, Grain::NARROW>;
    case WeightType::Q4_1:
      return kMultiply<WeightType::Q4_1, Grain::NARROW>;
    case WeightType::Q5_0:
      return kMultiply<WeightType::Q5_0, Grain::NARROW>;
    case WeightType::Q8_0:
      return kMultiply<WeightType::Q8_0, Grain::NARROW>;
    default:
      return multiplies_of_k_quants<Grain::NARROW>(type);
  }
}

// A tile is one stream of memory. A walk that keeps pace with it, of up to kRowsAtPace rows, is
// best left to the hardware's prefetcher, which wants each line once and in order: of the headers
// too, most of which are read late. More rows compute for longer than it looks ahead: they ask far
// ahead, for the second cache level.
template <int M>
inline void prefetch(const std::byte* at, std::int64_t bytes) {
  constexpr std::int64_t kAheadBytes = 7168;
  if constexpr (M > kRowsAtPace)
    for (std::int64_t line = 0; line < bytes; line += 64)
      _mm_prefetch(reinterpret_cast<const char*>(at + line + kAheadBytes), _MM_HINT_T1);
}
template <WeightType type, int M>
inline void begin_section(const std::byte* section) {
  prefetch<M>(section, headers_of_section(type));
  if constexpr (M <= kRowsAtPace)
    for (std::int64_t line = 0; line < headers_of_section(type); line += 64)
      asm volatile("" : : "r"(static_cast<unsigned char>(section[line])));
}

// The weights that stream through the first cache level push a long panel out of it. Few rows use
// it up faster than the hardware brings it back, and ask for the next of its blocks.
template <int M, class Block>
inline void prefetch_panel(const Block* x) {
  constexpr std::int64_t kAheadBytes = 128;
  if constexpr (M <= kRowsAtPace)
    for (std::int64_t line = 0; line < std::int64_t{sizeof *x}; line += 64)
      _mm_prefetch(reinterpret_cast<const char*>(x) + line + kAheadBytes, _MM_HINT_T0);
}

// Calls block(header, quants, part, x) for every 32 inputs, part-th of their section.
template <WeightType type, int M, class Body>
inline void for_each_block(const Inputs& w, const Rows& rows, Body block) {
  constexpr std::int64_t kBlocks = blocks_of_section(type), kQuants = info(type).quant_bytes;
  const auto* x = reinterpret_cast<const NarrowBlock<M>*>(rows.panel);
  const std::byte* section = w.section;
  std::int64_t part = w.part;
  for (std::int64_t left = w.cols / kBlock; left > 0; section += bytes_of_section(type), part = 0) {
    begin_section<type, M>(section);
    const std::int64_t end = left < kBlocks - part ? part + left : kBlocks;
    left -= end - part;
    for (; part < end; ++part, ++x) {
      const std::byte* const quants = section + quants_of(type, {0, part});
      prefetch<M>(quants, kQuants);
      prefetch_panel<M>(x);
      block(section + header_of(type, {0, part}), quants, part, *x);
    }
  }
}

// The same for every 128 inputs; part is 0 or 4.
template <WeightType type, int M, class Body>
inline void for_each_wide_block(const Inputs& w, const Rows& rows, Body block) {
  const auto* x = reinterpret_cast<const WideBlock<M>*>(rows.panel);
  const std::byte* section = w.section;
  std::int64_t part = w.part;
  for (std::int64_t b = 0; b < w.cols / kWide; ++b, ++x) {
    if (part == 0) begin_section<type, M>(section);
    prefetch_panel<M>(x);
    block(section, section + quants_of(type, {0, part}), part, *x);
    part ^= kWideBlocks;
    if (part == 0) section += bytes_of_section(type);
  }
}

// Four of q, or two sums, as one operand.
using Packed32 [[gnu::may_alias]] = std::int32_t;
inline const Packed32& packed(const void* values) { return *static_cast<const Packed32*>(values); }

// sums [16] to columns [0, width) of a row. The usual width is a constant, so that it is one move.
inline void store_row(const float* sums, std::int64_t width, const float* bias, float* out) {
  if (width < kLanes) {
    for (std::int64_t n = 0; n < width; ++n) out[n] = bias ? sums[n] + bias[n] : sums[n];
  } else if (bias) {
    float row[kLanes];
    for (std::int64_t n = 0; n < kLanes; ++n) row[n] = sums[n] + bias[n];
    __builtin_memcpy(out, row, sizeof row);
  } else {
    __builtin_memcpy(out, sums, kLanes * sizeof(float));
  }
}

// Rows that meet a tile at once: they stay in the second-level cache for all tiles of a call.
constexpr std::int64_t kPassesPerBlock = 4;

void matmul(const PackedMatrix& w, const Activations& x, std::int64_t rows, const float* bias,
            float* out, std::int64_t out_stride, Range tiles) {
  const TilePlace begin = place_of(w.type, w.first_col / kBlock);
  const std::int64_t stride = bytes_of_tile(w.type, w.tile_cols());
  const Grain grain = is_float(w.type) ? Grain::NARROW : grain_of(w);
  const Multiply* const kernels = multiplies(w.type, grain);
  const std::int64_t passes = passes_of(rows);
  alignas(64) float sums[kMaxRowsPerPass * kLanes];
  for (std::int64_t block = 0; block < passes; block += kPassesPerBlock) {
    const std::int64_t end = block + kPassesPerBlock < passes ? block + kPassesPerBlock : passes;
    for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
      const std::int64_t n = tile * kLanes, width = w.rows - n < kLanes ? w.rows - n : kLanes;
      const Inputs inputs{w.data + tile * stride + begin.section, begin.part, w.cols};
      for (std::int64_t pass = block; pass < end; ++pass) {
        const std::int64_t first = first_of_pass(pass, rows);
        const std::int64_t count = first_of_pass(pass + 1, rows) - first;
        kernels[count](
            inputs,
            {x.quantized + panel_offset(first, rows, w.cols, grain), x.floats + first * w.cols},
            sums);
        for (std::int64_t m = 0; m < count; ++m)
          store_row(sums + m * kLanes, width, bias ? bias + n : nullptr,
                    out + (first + m) * out_stride + n);
      }
    }
  }
}

}  // namespace
}  // namespace redline::kernels
