// SPDX-License-Identifier: Apache-2.0
// Where things lie in a tile of weights and in quantised rows. Shared by all instruction sets:
// file local on purpose, so that no copy compiled for one set can be linked into the code of
// another.
//
// Tile of a quantised type, 16 rows x K: headers[K / header_inputs], then quants[K / 32], both
// areas sequential in k. Quants of 32 inputs are 8 groups j of 4 inputs; group j as bytes is
// W[j][row * 4 + i] = weight of input 4j + i: the operand order of vpdpbusd and vpmaddubsw.
//   4 low bits: byte [p][64] holds W[2p] low, W[2p + 1] high, p < 4
//   5th bit:    then byte [64], bit j for W[j]
//   6 bits:     then byte [2][64], bits 2 (j % 4) of plane j / 4 for W[j]
//   8 bits:     int8 [8][64]
// Headers: d f16[16], then m f16[16] (Q4_1), or dmin f16[16] and per 32 inputs sc u8[16], mn u8[16]
// (Q4_K, Q5_K: the 6-bit fields widened), or per 16 inputs sc int8[16] (Q6_K).
// Tile of a float type: [K][16].
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "redline/kernels/weights.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kBlock = 32;  // inputs that share one activation scale
constexpr std::int64_t kWide = 128;  // or as many, see Grain
constexpr std::int64_t kWideBlocks = kWide / kBlock;
constexpr std::int64_t kLanes = 16;  // virtual lanes; also rows of a tile and positions of a page

struct TypeInfo {
  const char* name;
  std::int64_t block_weights, block_bytes;  // in the file
  std::int64_t header_bytes, quant_bytes;   // in a tile: per block_weights, per 32 inputs
  int offset;                               // weight = scale * (q - offset)
};

constexpr TypeInfo kTypes[] = {
    {"F32", 1, 4, 0, 2048, 0},       {"F16", 1, 2, 0, 1024, 0},
    {"BF16", 1, 2, 0, 1024, 0},      {"Q4_0", 32, 18, 32, 256, 8},
    {"Q4_1", 32, 20, 64, 256, 0},    {"Q5_0", 32, 22, 32, 320, 16},
    {"Q8_0", 32, 34, 32, 512, 0},    {"Q4_K", 256, 144, 320, 256, 0},
    {"Q5_K", 256, 176, 320, 320, 0}, {"Q6_K", 256, 210, 288, 384, 32},
};

inline constexpr const TypeInfo& info(WeightType type) { return kTypes[static_cast<int>(type)]; }
inline constexpr bool has_sub_scales(WeightType type) { return type >= WeightType::Q4_K; }
inline constexpr bool has_min(WeightType type) {
  return type == WeightType::Q4_1 || type == WeightType::Q4_K || type == WeightType::Q5_K;
}
inline constexpr std::int64_t align64(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// Offset of the quants in a tile: the headers come first.
inline constexpr std::int64_t quants_offset(WeightType type, std::int64_t cols) {
  return align64(cols / info(type).block_weights * info(type).header_bytes);
}
inline constexpr std::int64_t bytes_of_tile(WeightType type, std::int64_t cols) {
  return quants_offset(type, cols) + cols / kBlock * info(type).quant_bytes;
}

// Where the inputs of a view begin in each of its tiles. A view of inputs may begin inside a
// header.
struct TileWalk {
  std::int64_t tile_bytes, header, part, quants;  // bytes; part: 32 inputs of the first header
};
inline constexpr TileWalk walk_of(const PackedMatrix& w) {
  const TypeInfo& of = info(w.type);
  const std::int64_t first = w.first_col / kBlock;
  const std::int64_t parts = of.block_weights > kBlock ? of.block_weights / kBlock : 1;
  const std::int64_t tile_cols = w.cols_of_tiles ? w.cols_of_tiles : w.cols;
  return {.tile_bytes = bytes_of_tile(w.type, tile_cols),
          .header = first / parts * of.header_bytes,
          .part = first % parts,
          .quants = quants_offset(w.type, tile_cols) + first * of.quant_bytes};
}

// Rows of one decode of a weight block. More rows are split evenly: 9 is 5 + 4.
constexpr std::int64_t kMaxRowsPerPass = 8;

inline constexpr std::int64_t passes_of(std::int64_t rows) {
  return (rows + kMaxRowsPerPass - 1) / kMaxRowsPerPass;
}
inline constexpr std::int64_t first_of_pass(std::int64_t pass, std::int64_t rows) {
  return rows * pass / passes_of(rows);
}

// Quantised rows of K inputs: a panel for each pass, sequential in k, so that a pass of M rows
// reads one stream at offsets known when it is compiled. All narrow panels, then all wide ones.
template <std::int64_t M>
struct NarrowBlock {  // 32 inputs of the M rows of a pass
  std::int8_t q[M][kBlock];
  float scale[M], scaled_sum[M];          // scaled_sum: scale times the sum of q
  std::int32_t minus_sum[M];              // for offsets: the sum of q, negated
  std::int16_t minus_half_sums[M][2];     // of 16 inputs each
  std::int32_t minus_half_sums_32[M][2];  // 32 times that: Q6_K's offset
};
template <std::int64_t M>
struct WideBlock {  // 128 inputs
  std::int8_t q[kWideBlocks][M][kBlock];
  float scale[M];
  std::int16_t sums[kWideBlocks / 2][M][2];            // of 32 inputs each, in pairs
  std::int16_t minus_half_sums[kWideBlocks][M][2];     // of 16 inputs each
  std::int32_t minus_half_sums_32[kWideBlocks][M][2];  // 32 times that
};

// Calls f with a null pointer to the block type of `width` rows, for which the pass is laid out.
template <template <std::int64_t> class Block, class F>
inline void with_width(std::int64_t width, F&& f) {
  switch (width) {
    case 1:
      return f(static_cast<Block<1>*>(nullptr));
    case 2:
      return f(static_cast<Block<2>*>(nullptr));
    case 3:
      return f(static_cast<Block<3>*>(nullptr));
    case 4:
      return f(static_cast<Block<4>*>(nullptr));
    case 5:
      return f(static_cast<Block<5>*>(nullptr));
    case 6:
      return f(static_cast<Block<6>*>(nullptr));
    case 7:
      return f(static_cast<Block<7>*>(nullptr));
    default:
      return f(static_cast<Block<8>*>(nullptr));
  }
}

inline constexpr std::int64_t bytes_of_row(std::int64_t cols, Grain grain) {
  return grain == Grain::WIDE ? cols / kWide * std::int64_t{sizeof(WideBlock<1>)}
                              : cols / kBlock * std::int64_t{sizeof(NarrowBlock<1>)};
}
static_assert(sizeof(NarrowBlock<8>) == 8 * sizeof(NarrowBlock<1>));
static_assert(sizeof(WideBlock<8>) == 8 * sizeof(WideBlock<1>));

// Where the panel of the pass that begins with a row lies.
inline constexpr std::int64_t panel_offset(std::int64_t first_row, std::int64_t rows,
                                           std::int64_t cols, Grain grain) {
  const std::int64_t before =
      grain == Grain::WIDE ? align64(rows * bytes_of_row(cols, Grain::NARROW)) : 0;
  return before + first_row * bytes_of_row(cols, grain);
}

}  // namespace
}  // namespace redline::kernels
