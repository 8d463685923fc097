// SPDX-License-Identifier: Apache-2.0
// One block of a quantised row, taken apart: the same block read from the file or from a tile.
#pragma once
#include <cstddef>
#include <cstdint>

#include "redline/kernels/weights.hpp"

namespace redline::kernels {

struct Block {             // block_weights(type) of these are used: 32 or 256
  std::uint8_t q[256];     // as stored, before the offset; bits of an int8 for Q8_0
  std::uint16_t d = 0;     // f16
  std::uint16_t m = 0;     // f16: m of Q4_1, dmin of Q4_K and Q5_K
  std::uint8_t scale[16];  // 8 of Q4_K and Q5_K; 16 of Q6_K, bits of int8
  std::uint8_t min[8];     // Q4_K and Q5_K
};

void read_file_block(WeightType type, const std::byte* file, Block& block);
void write_tile_block(WeightType type, std::byte* tile, std::int64_t row, std::int64_t index,
                      const Block& block);
void read_tile_block(WeightType type, const std::byte* tile, std::int64_t row, std::int64_t index,
                     Block& block);
void dequantize_block(WeightType type, const Block& block, float* out);  // out [block_weights]

// One row of a tile -> float32 [cols]; the same bits as dequantize_row of the file's row.
void dequantize_tile_row(WeightType type, std::int64_t cols, const std::byte* tile,
                         std::int64_t row, float* out);

}  // namespace redline::kernels
