// SPDX-License-Identifier: Apache-2.0
// Making a packed matrix cheaper than its file: 4-bit blocks of our own, and some of its rows
// alone. Plain loops, once at load; the same bits on every machine.
#pragma once
#include <span>

#include "redline/kernels/weights.hpp"

namespace redline::kernels {

// float32 [cols] -> one row as GGUF stores Q4_0. Each block's scale is the one of least squared
// error among some around what its largest weight asks for. cols: a multiple of 32.
void quantize_row_q4_0(const float* row, std::int64_t cols, std::byte* file_row);

// Rows of whole-width w, by number and in any order, in tiles of their own:
// out [packed_bytes(w.type, rows, w.cols)], its last tile filled with zero rows.
void gather_rows(const PackedMatrix& w, std::span<const std::int32_t> rows, std::byte* out);

}  // namespace redline::kernels
