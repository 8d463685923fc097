// SPDX-License-Identifier: Apache-2.0
// Text to tokens and back: byte-level BPE as GGUF files carry it. Ids equal those of the
// `tokenizers` package built from the same vocabulary and merges.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "files/gguf.hpp"
#include "redline/types.hpp"

namespace redline::text {

enum class Specials { PLAIN_TEXT, PARSE };  // what "<|im_end|>" in the text means

class Tokenizer {
 public:
  explicit Tokenizer(
      const files::Gguf& model);  // InputError: unknown model or `pre`, with the known ones
  Tokenizer(Tokenizer&&) noexcept;
  ~Tokenizer();

  std::vector<Token> encode(std::string_view text, Specials specials) const;  // never adds a BOS
  std::string decode(
      std::span<const Token> tokens) const;   // exact bytes; control tokens as their text
  std::string_view bytes(Token token) const;  // of one token
  bool is_control(Token token) const;         // never part of a text: also padding
  bool is_padding(Token token) const;         // an id the model has no piece for

  std::int32_t vocab() const;
  const std::string& pre() const;
  bool add_bos() const;
  std::optional<Token> bos() const;
  std::optional<Token> eos() const;
  std::span<const Token> end_of_generation() const;  // eos, eot, eom and kin, sorted
  std::optional<Token> find(std::string_view bytes) const;
  const std::string& missing_bytes() const;  // no token spells them: encode leaves them out
  std::string sha256() const;                // over (id -> bytes, type), merges, pre, special ids

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::text
