// SPDX-License-Identifier: Apache-2.0
// Byte-pair merging of one word: the pair of lowest rank first, the leftmost of equals.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "redline/types.hpp"

namespace redline::text {

class Bpe {
 public:
  // `ids`: bytes of a piece to its token. `merges`: "left right" in rank order, spelled in the
  // byte alphabet. InputError: a merge of pieces that are not tokens.
  Bpe(const std::unordered_map<std::string_view, Token>& ids, std::span<const std::string> merges);

  void encode(std::string_view word, std::vector<Token>& out) const;
  // Bytes for which there is no token: left out of every encoding, as `tokenizers` does.
  const std::string& missing_bytes() const { return missing_bytes_; }

 private:
  struct Merge {
    std::int32_t rank;
    Token token;
  };
  const Merge* find(Token left, Token right) const;

  std::array<Token, 256> byte_tokens_;  // -1: none
  std::string missing_bytes_;
  std::unordered_map<std::uint64_t, Merge> merges_;  // by left << 32 | right
};

}  // namespace redline::text
