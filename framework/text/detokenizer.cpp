// SPDX-License-Identifier: Apache-2.0
#include "text/detokenizer.hpp"

#include "files/utf8.hpp"

namespace redline::text {

std::string_view Detokenizer::push(Token token) {
  certain_.clear();
  if (tokenizer_.is_control(token)) return certain_;
  held_ += tokenizer_.bytes(token);
  std::size_t at = 0;
  while (at < held_.size()) {
    const std::string_view rest = std::string_view(held_).substr(at);
    const files::Utf8Part part = files::first_utf8(rest);
    if (part.kind == files::Utf8Part::CUT) break;
    certain_ +=
        part.kind == files::Utf8Part::VALID ? rest.substr(0, part.bytes) : files::kReplacement;
    at += part.bytes;
  }
  held_.erase(0, at);
  return certain_;
}

std::string Detokenizer::finish() {
  const bool cut = !held_.empty();  // the beginning of one character, no more
  held_.clear();
  return cut ? std::string(files::kReplacement) : std::string();
}

}  // namespace redline::text
