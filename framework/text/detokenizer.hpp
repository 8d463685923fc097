// SPDX-License-Identifier: Apache-2.0
// Tokens to text as they come, never splitting a UTF-8 character: incomplete bytes are held back.
#pragma once
#include <string>

#include "text/tokenizer.hpp"

namespace redline::text {

class Detokenizer {
 public:
  explicit Detokenizer(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  // What became certain, until the next push; control tokens give nothing.
  std::string_view push(Token token);
  std::string finish();  // what was held back, invalid bytes as U+FFFD

 private:
  const Tokenizer& tokenizer_;
  std::string certain_, held_;
};

}  // namespace redline::text
