// SPDX-License-Identifier: Apache-2.0
// GGUF's block types as the file stores them (ggml-common.h names the fields), and what they mean.
#include <cstring>

#include "blocks.hpp"
#include "half.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

using Bytes = const std::uint8_t*;

std::uint16_t load16(Bytes at) { return static_cast<std::uint16_t>(at[0] | at[1] << 8); }

// 32 weights: byte j holds element j low and j + 16 high.
void read_nibbles(Bytes at, std::uint8_t* q) {
  for (int j = 0; j < 16; ++j) q[j] = at[j] & 15, q[j + 16] = at[j] >> 4;
}

// 12 bytes hold eight 6-bit scales and eight 6-bit mins.
void read_scales(Bytes at, Block& block) {
  for (int j = 0; j < 4; ++j) {
    block.scale[j] = at[j] & 63;
    block.min[j] = at[j + 4] & 63;
    block.scale[j + 4] = static_cast<std::uint8_t>((at[j + 8] & 15) | at[j] >> 6 << 4);
    block.min[j + 4] = static_cast<std::uint8_t>(at[j + 8] >> 4 | at[j + 4] >> 6 << 4);
  }
}

// Q4_K, Q5_K: d, dmin, scales[12], (high[32],) low[128]. Per 64 weights 32 bytes: first half low.
void read_k45(bool five, Bytes at, Block& block) {
  block.d = load16(at), block.m = load16(at + 2);
  read_scales(at + 4, block);
  const Bytes high = at + 16, low = five ? at + 48 : at + 16;
  for (int k = 0; k < 256; ++k) {
    const int group = k / 32, byte = low[k / 64 * 32 + k % 32];
    const int fifth = five ? (high[k % 32] >> group & 1) << 4 : 0;
    block.q[k] = static_cast<std::uint8_t>((group % 2 ? byte >> 4 : byte & 15) | fifth);
  }
}

// Q6_K: low[128], high[64], int8 scales[16], d. Per 128 weights four runs of 32.
void read_k6(Bytes at, Block& block) {
  std::memcpy(block.scale, at + 192, 16);
  block.d = load16(at + 208);
  for (int k = 0; k < 256; ++k) {
    const int half = k / 128, run = k % 128 / 32, l = k % 32;
    const int byte = at[half * 64 + run % 2 * 32 + l];
    const int top = at[128 + half * 32 + l] >> (2 * run) & 3;
    block.q[k] = static_cast<std::uint8_t>((run < 2 ? byte & 15 : byte >> 4) | top << 4);
  }
}

float load_float(WeightType type, const std::byte* row, std::int64_t k) {
  if (type == WeightType::F32) {
    float value;
    std::memcpy(&value, row + 4 * k, 4);
    return value;
  }
  std::uint16_t bits;
  std::memcpy(&bits, row + 2 * k, 2);
  return type == WeightType::F16 ? half_to_float(bits) : bfloat_to_float(bits);
}

}  // namespace

void read_file_block(WeightType type, const std::byte* file, Block& block) {
  const Bytes at = reinterpret_cast<Bytes>(file);
  switch (type) {
    case WeightType::Q4_0:
      block.d = load16(at);
      return read_nibbles(at + 2, block.q);
    case WeightType::Q4_1:
      block.d = load16(at), block.m = load16(at + 2);
      return read_nibbles(at + 4, block.q);
    case WeightType::Q5_0:
      block.d = load16(at);
      read_nibbles(at + 6, block.q);
      for (int j = 0; j < 32; ++j)
        block.q[j] |= static_cast<std::uint8_t>((at[2 + j / 8] >> (j % 8) & 1) << 4);
      return;
    case WeightType::Q8_0:
      block.d = load16(at);
      std::memcpy(block.q, at + 2, 32);
      return;
    case WeightType::Q4_K:
      return read_k45(false, at, block);
    case WeightType::Q5_K:
      return read_k45(true, at, block);
    case WeightType::Q6_K:
      return read_k6(at, block);
    default:
      return;  // float types have no blocks
  }
}

// Products of d, a scale and a quant fit float32 exactly, so only a min's subtraction rounds.
void dequantize_block(WeightType type, const Block& block, float* out) {
  const float d = half_to_float(block.d), m = half_to_float(block.m);
  const int offset = info(type).offset;
  for (int k = 0; k < info(type).block_weights; ++k) {
    const int q = type == WeightType::Q8_0 ? static_cast<std::int8_t>(block.q[k]) : block.q[k];
    float scale = d, min = type == WeightType::Q4_1 ? -m : 0.0f;
    if (type == WeightType::Q6_K) {
      const auto signed_scale = static_cast<std::int8_t>(block.scale[k / 16]);
      scale = d * static_cast<float>(signed_scale);
    } else if (has_sub_scales(type)) {
      const int sub = k / 32;
      scale = d * block.scale[sub];
      min = m * block.min[sub];
    }
    out[k] = scale * static_cast<float>(q - offset) - min;
  }
}

void dequantize_row(WeightType type, const std::byte* row, std::int64_t cols, float* out) {
  if (is_float(type)) {
    for (std::int64_t k = 0; k < cols; ++k) out[k] = load_float(type, row, k);
    return;
  }
  Block block;
  const TypeInfo& of = info(type);
  for (std::int64_t k = 0; k < cols; k += of.block_weights, row += of.block_bytes) {
    read_file_block(type, row, block);
    dequantize_block(type, block, out + k);
  }
}

}  // namespace redline::kernels
