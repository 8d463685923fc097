// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/weights.hpp"

#include "layout.hpp"

namespace redline::kernels {

std::string_view name(WeightType type) { return info(type).name; }
std::int64_t block_weights(WeightType type) { return info(type).block_weights; }

std::int64_t file_row_bytes(WeightType type, std::int64_t cols) {
  return cols / info(type).block_weights * info(type).block_bytes;
}
std::int64_t tile_bytes(WeightType type, std::int64_t cols) { return bytes_of_tile(type, cols); }

std::int64_t packed_bytes(WeightType type, std::int64_t rows, std::int64_t cols) {
  return (rows + kTileRows - 1) / kTileRows * tile_bytes(type, cols);
}

Grain grain_of(const PackedMatrix& w) {
  const bool is_wide = has_sub_scales(w.type) && w.first_col % kWide == 0 && w.cols % kWide == 0;
  return is_wide ? Grain::WIDE : Grain::NARROW;
}

PackedMatrix rows_of(const PackedMatrix& w, std::int64_t begin, std::int64_t end) {
  PackedMatrix part = w;
  part.rows = end - begin;
  part.data += begin / kTileRows * tile_bytes(w.type, w.tile_cols());
  return part;
}

PackedMatrix cols_of(const PackedMatrix& w, std::int64_t begin, std::int64_t end) {
  PackedMatrix part = w;
  part.cols = end - begin;
  part.first_col = w.first_col + begin;
  part.cols_of_tiles = w.tile_cols();
  return part;
}

}  // namespace redline::kernels
