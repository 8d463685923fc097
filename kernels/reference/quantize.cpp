// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>

#include "blocks.hpp"
#include "families.hpp"
#include "layout.hpp"
#include "reference/matmul.hpp"

namespace redline::kernels {
namespace {

// Symmetric, to nearest even, one scale per 32 inputs. A block that holds an infinity or a NaN gets
// the scale NaN, which then shows in every output; one of sizes below 2^-100 counts as zero.
void quantize_block(const float* x, std::int8_t* q, float* scale, std::int32_t* half_sums) {
  std::uint32_t largest = 0;  // of the absolute values; their bits order like they do
  for (int k = 0; k < kBlock; ++k) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x[k]) & 0x7fffffffu;
    if (bits > largest) largest = bits;
  }
  const float size = std::bit_cast<float>(largest);
  const bool usable = size >= 0x1p-100f && largest < 0x7f800000u;
  *scale = usable ? size / 127.0f : size < 0x1p-100f ? 0.0f : std::bit_cast<float>(0x7fc00000u);
  const float inverse = usable ? 127.0f / size : 0.0f;
  half_sums[0] = half_sums[1] = 0;
  for (int k = 0; k < kBlock; ++k) {
    const float rounded = usable ? x[k] * inverse + 0x1.8p23f : 0x1.8p23f;
    const std::int32_t value = std::bit_cast<std::int32_t>(rounded) - 0x4b400000;
    q[k] = static_cast<std::int8_t>(value);
    half_sums[k / 16] += value;
  }
}

void quantize_row(const float* x, std::int64_t cols, std::byte* row) {
  const RowLayout at = row_layout(cols);
  auto* const q = reinterpret_cast<std::int8_t*>(row);
  auto* const scales = reinterpret_cast<float*>(row + at.scale);
  auto* const scaled_sums = reinterpret_cast<float*>(row + at.scaled_sum);
  auto* const minus_sums = reinterpret_cast<std::int32_t*>(row + at.minus_sum);
  auto* const minus_half_sums = reinterpret_cast<std::int32_t*>(row + at.minus_half_sum);
  for (std::int64_t b = 0; b < cols / kBlock; ++b) {
    std::int32_t half_sums[2];
    quantize_block(x + b * kBlock, q + b * kBlock, scales + b, half_sums);
    const std::int32_t sum = half_sums[0] + half_sums[1];
    scaled_sums[b] = scales[b] * static_cast<float>(sum);
    minus_sums[b] = -sum;
    minus_half_sums[2 * b] = -half_sums[0], minus_half_sums[2 * b + 1] = -half_sums[1];
  }
  std::memcpy(row + at.floats, x, static_cast<std::size_t>(cols) * 4);
}

void quantize(const float* x, std::int64_t, std::int64_t cols, std::byte* out, Range range) {
  for (std::int64_t t = range.begin; t < range.end; ++t)
    quantize_row(x + t * cols, cols, out + t * row_layout(cols).stride);
}

void embed(const PackedMatrix& w, const std::int32_t* tokens, float* out, Range rows) {
  const std::int64_t stride = tile_bytes(w.type, w.cols);
  for (std::int64_t t = rows.begin; t < rows.end; ++t)
    dequantize_tile_row(w.type, w.cols, w.data + tokens[t] / kLanes * stride, tokens[t] % kLanes,
                        out + t * w.cols);
}

}  // namespace

std::int64_t activation_bytes(std::int64_t rows, std::int64_t cols) {
  return rows * row_layout(cols).stride;
}

void install_reference_matmul(Ops& ops) {
  ops.quantize = quantize;
  ops.matmul = reference_matmul;
  ops.embed = embed;
}

}  // namespace redline::kernels
