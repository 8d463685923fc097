// SPDX-License-Identifier: Apache-2.0
// Tokens by falling ratio, ties to the lowest id: a radix sort, since a vocabulary has too many of
// them to compare.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

#include "redline/types.hpp"

namespace {

struct Place {
  double ratio;  // not negative: such numbers are in the order of their bits
  redline::Token token;
};

inline std::size_t falling_byte(const Place& place, int shift) {
  return ~std::bit_cast<std::uint64_t>(place.ratio) >> shift & 0xff;
}

// rising: by token.
inline std::vector<Place> falling(std::vector<Place> rising) {
  std::vector<Place> next(rising.size());
  for (int shift = 0; shift < 64; shift += 8) {
    std::array<std::size_t, 256> place_of{};  // by byte: how many have it, then where they begin
    for (const Place& place : rising) ++place_of[falling_byte(place, shift)];
    std::exclusive_scan(place_of.begin(), place_of.end(), place_of.begin(), std::size_t{0});
    for (const Place& place : rising) next[place_of[falling_byte(place, shift)]++] = place;
    rising.swap(next);
  }
  return rising;
}

}  // namespace
