// SPDX-License-Identifier: Apache-2.0
// Cuts text into the words that BPE may merge within, by the family that `tokenizer.ggml.pre`
// names. Patterns are those of the families' own tokenizers; PCRE2 runs them.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace redline::text {

class PreTokenizer {
 public:
  struct Family;
  using Sink = std::function<void(std::string_view word)>;

  explicit PreTokenizer(std::string_view pre);  // InputError: unknown, with the known ones
  PreTokenizer(PreTokenizer&&) noexcept;
  ~PreTokenizer();

  void split(std::string_view text, const Sink& word) const;  // every byte lands in one word
  bool composes() const;        // NFC first, as the family's own tokenizer does
  bool ignores_merges() const;  // a word that is a token is that token
  bool adds_bos() const;        // where the file does not say

 private:
  struct Pattern;
  void cut(std::string_view text, std::size_t stage, const Sink& word) const;
  const Family* family_;
  std::unique_ptr<Pattern[]> patterns_;  // [stages] each cuts the pieces of the one before
};

}  // namespace redline::text
