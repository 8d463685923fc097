// SPDX-License-Identifier: Apache-2.0
// Finds special tokens in a text: the leftmost, and of those the longest.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redline/types.hpp"

namespace redline::text {

class SpecialMatcher {
 public:
  // The texts must outlive the matcher.
  explicit SpecialMatcher(const std::vector<std::pair<std::string_view, Token>>& specials);

  struct Found {
    std::size_t begin, bytes;
    Token token;  // -1: none, `begin` is the end of the text
  };
  Found next(std::string_view text, std::size_t from) const;

 private:
  std::array<std::vector<std::pair<std::string_view, Token>>, 256> by_first_byte_;  // longest first
};

}  // namespace redline::text
