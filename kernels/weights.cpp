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

}  // namespace redline::kernels
