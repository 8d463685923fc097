// SPDX-License-Identifier: Apache-2.0
// Rows of the file -> tiles, and back. The layout is described in layout.hpp.
#include <cstring>

#include "blocks.hpp"
#include "half.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

std::uint32_t load32(const void* at) {
  std::uint32_t value;
  std::memcpy(&value, at, 4);
  return value;
}
void store32(void* at, std::uint32_t value) { std::memcpy(at, &value, 4); }

int quant_bits(WeightType type) {
  switch (type) {
    case WeightType::Q5_0:
    case WeightType::Q5_K:
      return 5;
    case WeightType::Q6_K:
      return 6;
    case WeightType::Q8_0:
      return 8;
    default:
      return 4;
  }
}

// q [32] of one row -> its four bytes in each plane. Works on four weights, one a byte, at a time.
void write_quants(int bits, const std::uint8_t* q, std::byte* out, std::int64_t row) {
  std::byte* const at = out + row * 4;
  if (bits == 8) {
    for (int j = 0; j < 8; ++j) store32(at + 64 * j, load32(q + 4 * j));
    return;
  }
  for (int p = 0; p < 4; ++p) {
    const std::uint32_t low = load32(q + 8 * p) & 0x0f0f0f0fu;
    const std::uint32_t high = load32(q + 8 * p + 4) & 0x0f0f0f0fu;
    store32(at + 64 * p, low | high << 4);
  }
  std::uint32_t fifth = 0, top[2] = {};
  for (int j = 0; j < 8; ++j) {
    const std::uint32_t rest = load32(q + 4 * j) >> 4;
    fifth |= (rest & 0x01010101u) << j;
    top[j / 4] |= (rest & 0x03030303u) << (2 * (j % 4));
  }
  if (bits == 5) store32(at + 256, fifth);
  if (bits == 6) store32(at + 256, top[0]), store32(at + 320, top[1]);
}

void read_quants(int bits, const std::byte* in, std::int64_t row, std::uint8_t* q) {
  const std::byte* const at = in + row * 4;
  for (int j = 0; j < 8; ++j) {
    std::uint32_t four;
    if (bits == 8) {
      four = load32(at + 64 * j);
    } else {
      four = load32(at + 64 * (j / 2)) >> (j % 2 * 4) & 0x0f0f0f0fu;
      if (bits == 5) four |= (load32(at + 256) >> j & 0x01010101u) << 4;
      if (bits == 6) four |= (load32(at + 256 + 64 * (j / 4)) >> (2 * (j % 4)) & 0x03030303u) << 4;
    }
    store32(q + 4 * j, four);
  }
}

void pack_float_row(WeightType type, std::int64_t cols, const std::byte* row, std::byte* tile,
                    std::int64_t lane) {
  const std::int64_t width = info(type).block_bytes;
  for (std::int64_t k = 0; k < cols; ++k)
    std::memcpy(tile + (k * kLanes + lane) * width, row + k * width,
                static_cast<std::size_t>(width));
}

void pack_row(WeightType type, std::int64_t cols, const std::byte* row, std::byte* tile,
              std::int64_t lane) {
  if (is_float(type)) return pack_float_row(type, cols, row, tile, lane);
  Block block;
  for (std::int64_t b = 0; b < cols / info(type).block_weights; ++b) {
    read_file_block(type, row + b * info(type).block_bytes, block);
    write_tile_block(type, tile, lane, b, block);
  }
}

}  // namespace

void write_tile_block(WeightType type, std::byte* tile, std::int64_t row, std::int64_t index,
                      const Block& block) {
  const TypeInfo& of = info(type);
  const std::int64_t parts = of.block_weights / kBlock;
  const TilePlace at = place_of(type, index * parts);
  std::byte* const header = tile + header_of(type, at);
  std::memcpy(header + 2 * row, &block.d, 2);
  if (type == WeightType::Q6_K) {
    for (int g = 0; g < 16; ++g) header[32 + 16 * g + row] = std::byte{block.scale[g]};
  } else if (of.header_bytes > 32) {
    std::memcpy(header + 32 + 2 * row, &block.m, 2);
    if (has_sub_scales(type)) {
      for (int g = 0; g < 8; ++g) {
        header[64 + 32 * g + row] = std::byte{block.scale[g]};
        header[64 + 32 * g + 16 + row] = std::byte{block.min[g]};
      }
    }
  }
  std::byte* quants = tile + quants_of(type, at);
  for (std::int64_t part = 0; part < parts; ++part, quants += of.quant_bytes)
    write_quants(quant_bits(type), block.q + part * kBlock, quants, row);
}

void read_tile_block(WeightType type, const std::byte* tile, std::int64_t row, std::int64_t index,
                     Block& block) {
  const TypeInfo& of = info(type);
  const std::int64_t parts = of.block_weights / kBlock;
  const TilePlace at = place_of(type, index * parts);
  const std::byte* const header = tile + header_of(type, at);
  std::memcpy(&block.d, header + 2 * row, 2);
  if (type == WeightType::Q6_K) {
    for (int g = 0; g < 16; ++g)
      block.scale[g] = static_cast<std::uint8_t>(header[32 + 16 * g + row]);
  } else if (of.header_bytes > 32) {
    std::memcpy(&block.m, header + 32 + 2 * row, 2);
    if (has_sub_scales(type)) {
      for (int g = 0; g < 8; ++g) {
        block.scale[g] = static_cast<std::uint8_t>(header[64 + 32 * g + row]);
        block.min[g] = static_cast<std::uint8_t>(header[64 + 32 * g + 16 + row]);
      }
    }
  }
  const std::byte* quants = tile + quants_of(type, at);
  for (std::int64_t part = 0; part < parts; ++part, quants += of.quant_bytes)
    read_quants(quant_bits(type), quants, row, block.q + part * kBlock);
}

void dequantize_tile_row(WeightType type, std::int64_t cols, const std::byte* tile,
                         std::int64_t row, float* out) {
  if (is_float(type)) {
    const std::int64_t width = info(type).block_bytes;
    for (std::int64_t k = 0; k < cols; ++k)
      dequantize_row(type, tile + (k * kLanes + row) * width, 1, out + k);
    return;
  }
  Block block;
  const std::int64_t weights = info(type).block_weights;
  for (std::int64_t b = 0; b < cols / weights; ++b) {
    read_tile_block(type, tile, row, b, block);
    dequantize_block(type, block, out + b * weights);
  }
}

void pack(WeightType type, std::int64_t rows, std::int64_t cols, const std::byte* file_rows,
          std::byte* packed) {
  const std::int64_t row_bytes = file_row_bytes(type, cols), stride = tile_bytes(type, cols);
  std::memset(packed, 0, static_cast<std::size_t>(packed_bytes(type, rows, cols)));
  for (std::int64_t row = 0; row < rows; ++row)
    pack_row(type, cols, file_rows + row * row_bytes, packed + row / kLanes * stride, row % kLanes);
}

}  // namespace redline::kernels
