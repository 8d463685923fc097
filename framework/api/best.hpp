// SPDX-License-Identifier: Apache-2.0
// The m best of many values, best first, ties to the lower token. A block of values whose greatest
// is below m others is passed over, so all but one vectorised pass is short.
#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "redline/types.hpp"

namespace redline {

inline constexpr std::size_t kBestBlock = 64;  // values

template <class T>
using BestList = List<std::pair<Token, T>>;

template <class T>
T largest_of(std::span<const T> block) {
  constexpr std::size_t kWide = 16;
  T high[kWide];
  std::fill_n(high, kWide, block[0]);
  std::size_t i = 0;
  for (; i + kWide <= block.size(); i += kWide)
    for (std::size_t j = 0; j < kWide; ++j)
      high[j] = block[i + j] > high[j] ? block[i + j] : high[j];
  for (; i < block.size(); ++i) high[0] = block[i] > high[0] ? block[i] : high[0];
  return *std::max_element(high, high + kWide);
}

// maxima: of each kBestBlock values. Values that are not above `bound`, if there is one, are left
// out.
template <class T>
BestList<T> best_of(std::span<const T> values, std::span<const T> maxima, std::size_t m,
                    std::optional<T> bound = {}) {
  m = std::min(m, values.size());
  BestList<T> best;
  if (m == 0) return best;
  List<T> order(maxima.begin(), maxima.end());
  const std::size_t place = std::min(m, order.size()) - 1;
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(place), order.end(),
                   std::greater<>());
  const T least =
      m <= order.size() ? order[place] : *std::min_element(values.begin(), values.end());
  best.reserve(std::min(values.size(), m * kBestBlock));
  for (std::size_t b = 0; b < maxima.size(); ++b) {
    if (maxima[b] < least || (bound && !(maxima[b] > *bound))) continue;
    const std::size_t first = b * kBestBlock, end = std::min(first + kBestBlock, values.size());
    for (std::size_t i = first; i < end; ++i)
      if (values[i] >= least && (!bound || values[i] > *bound))
        best.emplace_back(static_cast<Token>(i), values[i]);
  }
  const auto better = [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  };
  m = std::min(m, best.size());
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(m), best.end(),
                    better);
  best.erase(best.begin() + static_cast<std::ptrdiff_t>(m), best.end());
  return best;
}

template <class T>
List<T> maxima_of(std::span<const T> values) {  // of each kBestBlock
  List<T> maxima;
  maxima.reserve(values.size() / kBestBlock + 1);
  for (std::size_t i = 0; i < values.size(); i += kBestBlock)
    maxima.push_back(largest_of(values.subspan(i, std::min(kBestBlock, values.size() - i))));
  return maxima;
}

// The best alone: maxima of long spans are enough, and only the first greatest span is searched.
template <class T>
BestList<T> best_one(std::span<const T> values, std::optional<T> bound) {
  constexpr std::size_t kLong = 4096;
  std::size_t first = 0;
  T high = values[0];
  for (std::size_t i = 0; i < values.size(); i += kLong)
    if (const T x = largest_of(values.subspan(i, std::min(kLong, values.size() - i))); x > high)
      high = x, first = i;
  if (bound && !(high > *bound)) return {};
  const auto at =
      std::find(values.begin() + static_cast<std::ptrdiff_t>(first), values.end(), high);
  return {{static_cast<Token>(at - values.begin()), high}};
}

template <class T>
BestList<T> best_of(std::span<const T> values, std::size_t m, std::optional<T> bound = {}) {
  if (m == 1 && !values.empty()) return best_one(values, bound);
  const List<T> maxima = maxima_of(values);
  return best_of(values, std::span<const T>(maxima), m, bound);
}

}  // namespace redline
