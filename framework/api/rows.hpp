// SPDX-License-Identifier: Apache-2.0
// Rows in host memory: dense (float32 as given, float64 when derived) and sparse.
#pragma once
#include <optional>

#include "redline/row.hpp"

namespace redline {
inline namespace v1 {

// Weights need not sum to 1; both keep the factor that makes them. Null when their sum is not above
// 0. logs: the sum of w ln w, where the maker of the weights came by it; entropy then needs no
// pass.
Row::Source::Ptr dense_row(List<float> weights, std::optional<double> logs = {});  // [V]
Row::Source::Ptr dense_row(List<double> weights);                                  // [V]
Row::Source::Ptr sparse_row(std::int32_t vocab, List<Row::Entry> rising);          // by token

// norm(weights off `used`), uniform off `used` when nothing is left; what `without` means for both.
Row::Source::Ptr without_used(const Row::Source& row, std::span<const Token> used);

}  // namespace v1
}  // namespace redline
