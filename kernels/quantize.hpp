// SPDX-License-Identifier: Apache-2.0
// The walk of quantize over rows and blocks; an instruction set gives largest_bits and
// round_to_bytes. File local: see layout.hpp.
#pragma once
#include "layout.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

struct HalfSums {
  std::int32_t first, second;
};

// The greatest of the bits of |x|, which order like the sizes do. count: 32 or 128.
std::uint32_t largest_bits(const float* x, std::int64_t count);
// x [32] times inverse, rounded to nearest even; the sums of its halves.
HalfSums round_to_bytes(const float* x, float inverse, std::int8_t* q);

// Symmetric. A group that holds an infinity or a NaN gets the scale NaN, which then shows in every
// output; one of sizes below 2^-100 counts as zero.
struct GroupScale {
  float scale, inverse;  // inverse 0: all q are zero

  explicit GroupScale(std::uint32_t bits) {
    const float size = __builtin_bit_cast(float, bits);
    const bool is_finite = bits < 0x7f800000u, is_zero = is_finite && size < 0x1p-100f;
    scale = is_zero ? 0.0f : is_finite ? size / 127.0f : __builtin_nanf("");
    inverse = is_finite && !is_zero ? 127.0f / size : 0.0f;
  }
};

inline HalfSums quantize_32(const float* x, const GroupScale& group, std::int8_t* q) {
  if (group.inverse != 0) return round_to_bytes(x, group.inverse, q);
  __builtin_memset(q, 0, kBlock);
  return {0, 0};
}

template <std::int64_t M>
inline void quantize_group(const float* x, std::int64_t m, NarrowBlock<M>& out) {
  const GroupScale group(largest_bits(x, kBlock));
  const HalfSums sums = quantize_32(x, group, out.q[m]);
  const std::int32_t sum = sums.first + sums.second;
  out.scale[m] = group.scale;
  out.scaled_sum[m] = group.scale * static_cast<float>(sum);
  out.minus_sum[m] = -sum;
  out.minus_half_sums[m][0] = static_cast<std::int16_t>(-sums.first);
  out.minus_half_sums[m][1] = static_cast<std::int16_t>(-sums.second);
  out.minus_half_sums_32[m][0] = -32 * sums.first;
  out.minus_half_sums_32[m][1] = -32 * sums.second;
}

template <std::int64_t M>
inline void quantize_group(const float* x, std::int64_t m, WideBlock<M>& out) {
  const GroupScale group(largest_bits(x, kWide));
  out.scale[m] = group.scale;
  for (std::int64_t i = 0; i < kWideBlocks; ++i) {
    const HalfSums sums = quantize_32(x + i * kBlock, group, out.q[i][m]);
    out.sums[i / 2][m][i % 2] = static_cast<std::int16_t>(sums.first + sums.second);
    out.minus_half_sums[i][m][0] = static_cast<std::int16_t>(-sums.first);
    out.minus_half_sums[i][m][1] = static_cast<std::int16_t>(-sums.second);
    out.minus_half_sums_32[i][m][0] = -32 * sums.first;
    out.minus_half_sums_32[i][m][1] = -32 * sums.second;
  }
}

static_assert(kActivationColumns % kWide == 0 && kActivationColumns % kBlock == 0);

void quantize(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t cols,
              Grain grain, std::byte* out, Range passes, Range columns) {
  const std::int64_t step = grain == Grain::WIDE ? kWide : kBlock;
  for (std::int64_t pass = passes.begin; pass < passes.end; ++pass) {
    const std::int64_t first = first_of_pass(pass, rows);
    const std::int64_t width = first_of_pass(pass + 1, rows) - first;
    std::byte* const panel = out + panel_offset(first, rows, cols, grain);
    const auto quantize_rows = [&](auto* block) {
      block = reinterpret_cast<decltype(block)>(panel) + columns.begin / step;
      for (std::int64_t k = 0; k < columns.end - columns.begin; k += step, ++block)
        for (std::int64_t m = 0; m < width; ++m)
          quantize_group(x + (first + m) * stride + k, m, *block);
    };
    if (grain == Grain::WIDE)
      with_width<WideBlock>(width, quantize_rows);
    else
      with_width<NarrowBlock>(width, quantize_rows);
  }
}

}  // namespace
}  // namespace redline::kernels
