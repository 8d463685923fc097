// SPDX-License-Identifier: Apache-2.0
// Weight matrices: the GGUF block types, and the tile layout the matmul reads.
// Layout family: tiles of 16 output rows x 32 inputs with per-sub-block scales, at most 3 % more
// bytes than the file. A tensor-parallel shard is a view: of output rows a range of whole tiles, of
// inputs a range of each tile.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace redline::kernels {

enum class WeightType : std::uint8_t { F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q8_0, Q4_K, Q5_K, Q6_K };
inline constexpr std::int64_t kTileRows = 16;

inline constexpr bool is_float(WeightType type) { return type <= WeightType::BF16; }

std::string_view name(WeightType type);
std::int64_t block_weights(WeightType type);                      // 1, 32 or 256
std::int64_t file_row_bytes(WeightType type, std::int64_t cols);  // one row as GGUF stores it
std::int64_t tile_bytes(WeightType type, std::int64_t cols);      // one tile of 16 rows
std::int64_t packed_bytes(WeightType type, std::int64_t rows, std::int64_t cols);  // whole tiles

// One row of the file -> float32 [cols]. Plain loops: what a block means.
void dequantize_row(WeightType type, const std::byte* row, std::int64_t cols, float* out);

// rows of the file [rows, cols] -> tiles; the last tile is filled with zero rows.
void pack(WeightType type, std::int64_t rows, std::int64_t cols, const std::byte* file_rows,
          std::byte* packed);

struct PackedMatrix {  // a view; cols is a multiple of 32
  WeightType type = WeightType::F32;
  std::int64_t rows = 0, cols = 0;                // outputs N, inputs K
  const std::byte* data = nullptr;                // [tiles()] tiles
  std::int64_t first_col = 0, cols_of_tiles = 0;  // of inputs only: where in wider tiles; 0: cols
  std::int64_t tiles() const { return (rows + kTileRows - 1) / kTileRows; }
  std::int64_t tile_cols() const { return cols_of_tiles ? cols_of_tiles : cols; }
};
// How many inputs of a row share one activation scale: 32; or 128 for weights that bring integer
// scales of their own (Q4_K, Q5_K, Q6_K), whose sums then stay integers for longer. A view that
// does not lie between multiples of 128 inputs takes 32.
enum class Grain : std::uint8_t { NARROW, WIDE };
inline constexpr Grain kGrains[] = {Grain::NARROW, Grain::WIDE};
Grain grain_of(const PackedMatrix& w);  // of a type that is no float

// Outputs [begin, end) of w: begin a multiple of 16, end one too or the last.
PackedMatrix rows_of(const PackedMatrix& w, std::int64_t begin, std::int64_t end);
// Inputs [begin, end) of w, multiples of 32. For the matmul only: no embedding row is cut so.
PackedMatrix cols_of(const PackedMatrix& w, std::int64_t begin, std::int64_t end);

}  // namespace redline::kernels
