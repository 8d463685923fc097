// SPDX-License-Identifier: Apache-2.0
#include "quantize.hpp"

#include <bit>

#include "blocks.hpp"
#include "families.hpp"
#include "reference/matmul.hpp"

namespace redline::kernels {
namespace {

std::uint32_t largest_bits(const float* x, std::int64_t count) {
  std::uint32_t largest = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x[k]) & 0x7fffffffu;
    if (bits > largest) largest = bits;
  }
  return largest;
}

HalfSums round_to_bytes(const float* x, float inverse, std::int8_t* q) {
  std::int32_t sums[2] = {};
  for (int k = 0; k < kBlock; ++k) {
    const float rounded = x[k] * inverse + 0x1.8p23f;  // the integer stands in the low bits
    const std::int32_t value = std::bit_cast<std::int32_t>(rounded) - 0x4b400000;
    q[k] = static_cast<std::int8_t>(value);
    sums[k / 16] += value;
  }
  return {sums[0], sums[1]};
}

void embed(const PackedMatrix& w, const std::int32_t* tokens, float* out, Range rows) {
  const std::int64_t stride = tile_bytes(w.type, w.cols);
  for (std::int64_t t = rows.begin; t < rows.end; ++t)
    dequantize_tile_row(w.type, w.cols, w.data + tokens[t] / kLanes * stride, tokens[t] % kLanes,
                        out + t * w.cols);
}

}  // namespace

std::int64_t row_passes(std::int64_t rows) { return passes_of(rows); }

std::int64_t activation_bytes(std::int64_t rows, std::int64_t cols) {
  return align64(panel_offset(rows, rows, cols, Grain::WIDE));
}

void install_reference_matmul(Ops& ops) {
  ops.quantize = quantize;
  ops.matmul = reference_matmul;
  ops.embed = embed;
}

}  // namespace redline::kernels
