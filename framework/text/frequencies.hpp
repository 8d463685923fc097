// SPDX-License-Identifier: Apache-2.0
// How often each token comes in some texts: what a draft model's head may be cut down by.
//
// File: one JSON object. format "redline token frequencies", version 1; tokenizer_sha256 and vocab
// of the tokenizer that counted; texts and tokens, how many; counts, a list of [id, count] with
// falling counts (then rising ids), of tokens that came at all.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace redline::text {

struct Frequencies {
  struct Entry {
    Token token;
    std::uint64_t count;
  };
  std::string tokenizer_sha256;
  std::int32_t vocab = 0;
  std::uint64_t texts = 0, tokens = 0;
  std::vector<Entry> entries;  // the most frequent first

  std::vector<Token> best(std::size_t count) const;  // ids, rising; count <= entries
};

class FrequencyCounter {
 public:
  explicit FrequencyCounter(const Tokenizer& tokenizer)
      : tokenizer_(tokenizer), counts_(tokenizer.vocab()) {}
  void add(std::string_view text);  // may be a part of one
  void end_text();                  // as a model ends what it writes, by its end token
  Frequencies result() const;

 private:
  const Tokenizer& tokenizer_;
  std::vector<std::uint64_t> counts_;  // [V]
  std::uint64_t texts_ = 0;
};

void write_frequencies(const Frequencies& f, const std::filesystem::path& path);  // DeviceError
// InputError: not such a file, or one that contradicts itself.
Frequencies read_frequencies(const std::filesystem::path& path);

}  // namespace redline::text
