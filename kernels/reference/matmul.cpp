// SPDX-License-Identifier: Apache-2.0
// The order of every sum: per output one accumulator, blocks of 32 inputs in order; inside a block
// integers only.
#include "reference/matmul.hpp"

#include <cmath>
#include <cstring>

#include "half.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

struct DecodedBlock {                  // 32 inputs of 16 rows
  std::int8_t w[kLanes][kBlock];       // offset taken off
  std::int32_t half_scale[2][kLanes];  // per 16 inputs; 1 except for Q6_K
  float scale[kLanes], min[kLanes];    // out += scale * x_scale * dot + min * x_sum
};

std::uint16_t load16(const std::byte* at) {
  std::uint16_t value;
  std::memcpy(&value, at, 2);
  return value;
}
int byte_at(const std::byte* at, std::int64_t index) { return std::to_integer<int>(at[index]); }

int stored_quant(WeightType type, const std::byte* quants, int lane, int k) {
  const int j = k / 4, at = lane * 4 + k % 4;
  if (type == WeightType::Q8_0) return static_cast<std::int8_t>(byte_at(quants, 64 * j + at));
  int q = byte_at(quants, 64 * (j / 2) + at) >> (j % 2 * 4) & 15;
  if (type == WeightType::Q5_0 || type == WeightType::Q5_K)
    q |= (byte_at(quants, 256 + at) >> j & 1) << 4;
  if (type == WeightType::Q6_K)
    q |= (byte_at(quants, 256 + 64 * (j / 4) + at) >> (2 * (j % 4)) & 3) << 4;
  return q;
}

void decode(WeightType type, std::int64_t cols_of_tile, const std::byte* tile, std::int64_t b,
            DecodedBlock& out) {
  const TypeInfo& of = info(type);
  const std::int64_t parts = of.block_weights / kBlock;
  const std::byte* const header = tile + b / parts * of.header_bytes;
  const std::byte* const quants = tile + quants_offset(type, cols_of_tile) + b * of.quant_bytes;
  const std::byte* const sub = header + 64 + b % parts * 32;                  // Q4_K, Q5_K
  const std::byte* const half_scales = header + 32 + b % parts * 2 * kLanes;  // Q6_K
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int k = 0; k < kBlock; ++k)
      out.w[lane][k] = static_cast<std::int8_t>(stored_quant(type, quants, lane, k) - of.offset);
    const float d = half_to_float(load16(header + 2 * lane));
    out.scale[lane] = d, out.min[lane] = 0;
    out.half_scale[0][lane] = out.half_scale[1][lane] = 1;
    if (type == WeightType::Q4_1) out.min[lane] = half_to_float(load16(header + 32 + 2 * lane));
    if (type == WeightType::Q4_K || type == WeightType::Q5_K) {
      out.scale[lane] = d * static_cast<float>(byte_at(sub, lane));
      out.min[lane] = -(half_to_float(load16(header + 32 + 2 * lane)) *
                        static_cast<float>(byte_at(sub, 16 + lane)));
    }
    if (type == WeightType::Q6_K)
      for (int half = 0; half < 2; ++half)
        out.half_scale[half][lane] =
            static_cast<std::int8_t>(byte_at(half_scales, half * kLanes + lane));
  }
}

std::int32_t dot16(const std::int8_t* w, const std::int8_t* x) {
  std::int32_t sum = 0;
  for (int k = 0; k < 16; ++k) sum += w[k] * x[k];
  return sum;
}

void add_block(const DecodedBlock& block, bool has_min, const std::byte* x, const RowLayout& at,
               std::int64_t b, float* sums) {
  const auto* const q = reinterpret_cast<const std::int8_t*>(x) + b * kBlock;
  const float x_scale = reinterpret_cast<const float*>(x + at.scale)[b];
  const float x_sum = reinterpret_cast<const float*>(x + at.scaled_sum)[b];
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int32_t dot = block.half_scale[0][lane] * dot16(block.w[lane], q) +
                             block.half_scale[1][lane] * dot16(block.w[lane] + 16, q + 16);
    sums[lane] = std::fma(block.scale[lane] * x_scale, static_cast<float>(dot), sums[lane]);
    if (has_min) sums[lane] = std::fma(block.min[lane], x_sum, sums[lane]);
  }
}

float float_weight(WeightType type, const std::byte* tile, std::int64_t index) {
  if (type == WeightType::F32) return reinterpret_cast<const float*>(tile)[index];
  const std::uint16_t bits = load16(tile + 2 * index);
  return type == WeightType::F16 ? half_to_float(bits) : bfloat_to_float(bits);
}

// sums [count, 16] of one tile and count <= kMaxRowsPerPass rows.
void multiply_tile(const PackedMatrix& w, const std::byte* tile, const std::byte* x,
                   std::int64_t count, float* sums) {
  const RowLayout at = row_layout(w.cols);
  std::memset(sums, 0, static_cast<std::size_t>(count * kLanes) * sizeof(float));
  if (is_float(w.type)) {
    for (std::int64_t m = 0; m < count; ++m) {
      const auto* const values = reinterpret_cast<const float*>(x + m * at.stride + at.floats);
      for (std::int64_t k = 0; k < w.cols; ++k)
        for (int lane = 0; lane < kLanes; ++lane)
          sums[m * kLanes + lane] =
              std::fma(float_weight(w.type, tile, (w.first_col + k) * kLanes + lane), values[k],
                       sums[m * kLanes + lane]);
    }
    return;
  }
  const bool has_min =
      w.type == WeightType::Q4_1 || w.type == WeightType::Q4_K || w.type == WeightType::Q5_K;
  DecodedBlock block;
  for (std::int64_t b = 0; b < w.cols / kBlock; ++b) {
    decode(w.type, w.tile_cols(), tile, w.first_col / kBlock + b, block);
    for (std::int64_t m = 0; m < count; ++m)
      add_block(block, has_min, x + m * at.stride, at, b, sums + m * kLanes);
  }
}

}  // namespace

void reference_matmul(const PackedMatrix& w, const std::byte* x, std::int64_t rows,
                      const float* bias, float* out, std::int64_t out_stride, Range tiles) {
  const std::int64_t stride = bytes_of_tile(w.type, w.tile_cols()),
                     x_stride = row_layout(w.cols).stride;
  float sums[kMaxRowsPerPass * kLanes];
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    for (std::int64_t first = 0; first < rows; first += kMaxRowsPerPass) {
      const std::int64_t count = rows - first < kMaxRowsPerPass ? rows - first : kMaxRowsPerPass;
      multiply_tile(w, w.data + tile * stride, x + first * x_stride, count, sums);
      for (std::int64_t m = 0; m < count; ++m)
        for (std::int64_t n = tile * kLanes; n < w.rows && n < (tile + 1) * kLanes; ++n) {
          const float sum = sums[m * kLanes + n % kLanes];
          out[(first + m) * out_stride + n] = bias ? sum + bias[n] : sum;
        }
    }
  }
}

}  // namespace redline::kernels
