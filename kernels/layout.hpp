// SPDX-License-Identifier: Apache-2.0
// Where things lie in a tile of weights and in quantised rows. Shared by all instruction sets:
// file local on purpose, so that no copy compiled for one set can be linked into the code of
// another.
//
// Tile of a quantised type, 16 rows x K: sections in order of k, and nothing else, so that a walk
// reads one stream of memory, which the hardware's prefetcher follows. A section holds its headers,
// then its quants: of 256 inputs of a K-quant, of 64 where a header takes 32 bytes (of 32 at the
// end of a row), of 32 for Q4_1. It begins at a multiple of 64 bytes.
// Quants of 32 inputs are 8 groups j of 4 inputs; group j as bytes is W[j][row * 4 + i] = weight of
// input 4j + i: the operand order of vpdpbusd and vpmaddubsw.
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
inline constexpr bool five_bits(WeightType type) {
  return type == WeightType::Q5_0 || type == WeightType::Q5_K;
}
inline constexpr std::int64_t align64(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

// A section: its blocks of 32 inputs, the bytes of its headers, all of its bytes.
inline constexpr std::int64_t blocks_of_section(WeightType type) {
  return has_sub_scales(type)            ? info(type).block_weights / kBlock
         : info(type).header_bytes == 32 ? 2
                                         : 1;
}
inline constexpr std::int64_t headers_of_section(WeightType type) {
  return align64(has_sub_scales(type) ? info(type).header_bytes
                                      : blocks_of_section(type) * info(type).header_bytes);
}
inline constexpr std::int64_t bytes_of_section(WeightType type) {
  return headers_of_section(type) + blocks_of_section(type) * info(type).quant_bytes;
}
inline constexpr std::int64_t bytes_of_tile(WeightType type, std::int64_t cols) {
  const std::int64_t blocks = cols / kBlock, rest = blocks % blocks_of_section(type);
  return blocks / blocks_of_section(type) * bytes_of_section(type) +
         (rest ? headers_of_section(type) + rest * info(type).quant_bytes : 0);
}

// Where in a tile the b-th 32 inputs lie.
struct TilePlace {
  std::int64_t section, part;  // bytes; the block's index in the section
};
inline constexpr TilePlace place_of(WeightType type, std::int64_t b) {
  return {b / blocks_of_section(type) * bytes_of_section(type), b % blocks_of_section(type)};
}
inline constexpr std::int64_t header_of(WeightType type, TilePlace at) {
  return at.section + (has_sub_scales(type) ? 0 : at.part * info(type).header_bytes);
}
inline constexpr std::int64_t quants_of(WeightType type, TilePlace at) {
  return at.section + headers_of_section(type) + at.part * info(type).quant_bytes;
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
