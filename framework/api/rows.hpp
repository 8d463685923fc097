// SPDX-License-Identifier: Apache-2.0
// Rows in host memory: dense (float32 as given, float64 when derived) and sparse.
#pragma once
#include <optional>

#include "redline/row.hpp"

namespace redline {
inline namespace v1 {

// Memory that is written before it is read: to size it sets nothing.
template <class T>
struct Unset : Recycling<T> {
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... From>
  void construct(U* at, From&&... from) {
    std::construct_at(at, std::forward<From>(from)...);
  }
};
template <class T>
using Weights = std::vector<T, Unset<T>>;  // [V]

// Weights need not sum to 1; both keep the factor that makes them. Null when their sum is not above
// 0. logs: the sum of w ln w, where the maker of the weights came by it; entropy then needs no
// pass.
Row::Source::Ptr dense_row(Weights<float> weights, std::optional<double> logs = {});
Row::Source::Ptr dense_row(Weights<double> weights);
Row::Source::Ptr sparse_row(std::int32_t vocab, List<Row::Entry> rising);  // by token

// Of p [V] that a softmax gave together with its entropy, so not negative. Error: not a
// distribution.
REDLINE_API Row softmax_row(Weights<float> p, double entropy);

// norm(weights off `used`), uniform off `used` when nothing is left; what `without` means for both.
Row::Source::Ptr without_used(const Row::Source& row, std::span<const Token> used);

}  // namespace v1
}  // namespace redline
