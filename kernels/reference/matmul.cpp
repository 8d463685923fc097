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

struct DecodedBlock {                                     // 32 inputs of 16 outputs
  std::int8_t w[kLanes][kBlock];                          // offset taken off
  std::int32_t half_scale[2][kLanes], min_scale[kLanes];  // integers of K-quants; 1 for others
  float d[kLanes], m[kLanes];
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

void decode(WeightType type, const std::byte* tile, std::int64_t b, DecodedBlock& out) {
  const TypeInfo& of = info(type);
  const TilePlace at = place_of(type, b);
  const std::byte* const header = tile + header_of(type, at);
  const std::byte* const quants = tile + quants_of(type, at);
  const std::byte* const sub = header + 64 + at.part * 32;                  // Q4_K, Q5_K
  const std::byte* const half_scales = header + 32 + at.part * 2 * kLanes;  // Q6_K
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int k = 0; k < kBlock; ++k)
      out.w[lane][k] = static_cast<std::int8_t>(stored_quant(type, quants, lane, k) - of.offset);
    out.d[lane] = half_to_float(load16(header + 2 * lane));
    out.m[lane] = has_min(type) ? half_to_float(load16(header + 32 + 2 * lane)) : 0;
    out.half_scale[0][lane] = out.half_scale[1][lane] = out.min_scale[lane] = 1;
    if (has_sub_scales(type) && has_min(type)) {
      out.half_scale[0][lane] = out.half_scale[1][lane] = byte_at(sub, lane);
      out.min_scale[lane] = byte_at(sub, 16 + lane);
    } else if (type == WeightType::Q6_K) {
      for (int half = 0; half < 2; ++half)
        out.half_scale[half][lane] =
            static_cast<std::int8_t>(byte_at(half_scales, half * kLanes + lane));
    }
  }
}

std::int32_t dot16(const std::int8_t* w, const std::int8_t* x) {
  std::int32_t sum = 0;
  for (int k = 0; k < 16; ++k) sum += w[k] * x[k];
  return sum;
}

std::int32_t scaled_dot(const DecodedBlock& block, int lane, const std::int8_t* q) {
  return block.half_scale[0][lane] * dot16(block.w[lane], q) +
         block.half_scale[1][lane] * dot16(block.w[lane] + 16, q + 16);
}

template <std::int64_t M>
void add_block(WeightType type, const DecodedBlock& block, const NarrowBlock<M>& x, std::int64_t m,
               float* sums) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const bool is_float_scale = has_sub_scales(type) && has_min(type);
    const std::int32_t dot =
        is_float_scale ? dot16(block.w[lane], x.q[m]) + dot16(block.w[lane] + 16, x.q[m] + 16)
                       : scaled_dot(block, lane, x.q[m]);
    const float scale = is_float_scale
                            ? block.d[lane] * static_cast<float>(block.half_scale[0][lane])
                            : block.d[lane];
    sums[lane] = std::fma(scale * x.scale[m], static_cast<float>(dot), sums[lane]);
    if (type == WeightType::Q4_1)
      sums[lane] = std::fma(block.m[lane], x.scaled_sum[m], sums[lane]);
    else if (has_min(type))
      sums[lane] = std::fma(-(block.m[lane] * static_cast<float>(block.min_scale[lane])),
                            x.scaled_sum[m], sums[lane]);
  }
}

// Integers over all 128 inputs, then one float.
template <std::int64_t M>
void add_blocks(WeightType type, const DecodedBlock* blocks, const WideBlock<M>& x, std::int64_t m,
                float* sums) {
  for (int lane = 0; lane < kLanes; ++lane) {
    std::int32_t dot = 0, mins = 0;
    for (std::int64_t i = 0; i < kWideBlocks; ++i) {
      dot += scaled_dot(blocks[i], lane, x.q[i][m]);
      mins += blocks[i].min_scale[lane] * x.sums[i / 2][m][i % 2];
    }
    const float scale = blocks[0].d[lane] * x.scale[m], min = blocks[0].m[lane] * x.scale[m];
    sums[lane] = std::fma(scale, static_cast<float>(dot), sums[lane]);
    if (has_min(type)) sums[lane] = std::fma(-min, static_cast<float>(mins), sums[lane]);
  }
}

float float_weight(WeightType type, const std::byte* tile, std::int64_t index) {
  if (type == WeightType::F32) return reinterpret_cast<const float*>(tile)[index];
  const std::uint16_t bits = load16(tile + 2 * index);
  return type == WeightType::F16 ? half_to_float(bits) : bfloat_to_float(bits);
}

// sums [count, 16] of one tile and the count rows of a pass: floats [count, K].
void multiply_floats(const PackedMatrix& w, const std::byte* tile, const float* x,
                     std::int64_t count, float* sums) {
  for (std::int64_t m = 0; m < count; ++m)
    for (std::int64_t k = 0; k < w.cols; ++k)
      for (int lane = 0; lane < kLanes; ++lane)
        sums[m * kLanes + lane] =
            std::fma(float_weight(w.type, tile, (w.first_col + k) * kLanes + lane),
                     x[m * w.cols + k], sums[m * kLanes + lane]);
}

template <std::int64_t M>
void multiply_blocks(const PackedMatrix& w, const std::byte* tile, const NarrowBlock<M>* x,
                     float* sums) {
  DecodedBlock block;
  for (std::int64_t b = 0; b < w.cols / kBlock; ++b) {
    decode(w.type, tile, w.first_col / kBlock + b, block);
    for (std::int64_t m = 0; m < M; ++m) add_block(w.type, block, x[b], m, sums + m * kLanes);
  }
}

template <std::int64_t M>
void multiply_blocks(const PackedMatrix& w, const std::byte* tile, const WideBlock<M>* x,
                     float* sums) {
  DecodedBlock blocks[kWideBlocks];
  for (std::int64_t b = 0; b < w.cols / kWide; ++b) {
    for (std::int64_t i = 0; i < kWideBlocks; ++i)
      decode(w.type, tile, w.first_col / kBlock + b * kWideBlocks + i, blocks[i]);
    for (std::int64_t m = 0; m < M; ++m) add_blocks(w.type, blocks, x[b], m, sums + m * kLanes);
  }
}

void multiply_panel(const PackedMatrix& w, const std::byte* tile, const std::byte* panel,
                    std::int64_t count, float* sums) {
  const auto multiply = [&](auto* block) {
    multiply_blocks(w, tile, reinterpret_cast<const std::remove_pointer_t<decltype(block)>*>(panel),
                    sums);
  };
  if (grain_of(w) == Grain::WIDE)
    with_width<WideBlock>(count, multiply);
  else
    with_width<NarrowBlock>(count, multiply);
}

}  // namespace

void reference_matmul(const PackedMatrix& w, const Activations& x, std::int64_t rows,
                      const float* bias, float* out, std::int64_t out_stride, Range tiles) {
  const std::int64_t stride = bytes_of_tile(w.type, w.tile_cols());
  const Grain grain = grain_of(w);
  for (std::int64_t tile = tiles.begin; tile < tiles.end; ++tile) {
    for (std::int64_t pass = 0; pass < passes_of(rows); ++pass) {
      const std::int64_t first = first_of_pass(pass, rows);
      const std::int64_t count = first_of_pass(pass + 1, rows) - first;
      const std::byte* const at = w.data + tile * stride;
      float sums[kMaxRowsPerPass * kLanes] = {};
      if (is_float(w.type))
        multiply_floats(w, at, x.floats + first * w.cols, count, sums);
      else
        multiply_panel(w, at, x.quantized + panel_offset(first, rows, w.cols, grain), count, sums);
      for (std::int64_t m = 0; m < count; ++m)
        for (std::int64_t n = tile * kLanes; n < w.rows && n < (tile + 1) * kLanes; ++n) {
          const float sum = sums[m * kLanes + n % kLanes];
          out[(first + m) * out_stride + n] = bias ? sum + bias[n] : sum;
        }
    }
  }
}

}  // namespace redline::kernels
