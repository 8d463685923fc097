// SPDX-License-Identifier: Apache-2.0
// The `tokenizer.*` keys of a model file, read and checked: pieces as bytes, kinds, special ids.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/gguf.hpp"
#include "redline/types.hpp"

namespace redline::text {

enum class PieceKind : std::uint8_t {  // GGUF's token_type
  NORMAL = 1,
  UNKNOWN = 2,
  CONTROL = 3,
  USER_DEFINED = 4,
  UNUSED = 5,
  BYTE = 6
};

struct Piece {
  std::string bytes;
  PieceKind kind;
  bool spelled;  // in the byte alphabet, so that merges can reach it
};

struct VocabularyFile {
  explicit VocabularyFile(const files::Gguf& model);

  std::string pre;
  std::vector<Piece> pieces;  // [V]
  std::optional<Token> bos, eos;
  std::vector<Token> end_of_generation;  // sorted
  bool adds_bos = false;

 private:
  std::optional<Token> special(const files::Gguf& model, std::string_view name) const;
  void read_pieces(const files::Gguf& model);
  void read_specials(const files::Gguf& model);
};

// What the model's file says of BOS, or its pre-tokenizer's family where it is silent.
bool adds_bos(const files::Gguf& model);

}  // namespace redline::text
