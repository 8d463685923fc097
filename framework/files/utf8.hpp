// SPDX-License-Identifier: Apache-2.0
// UTF-8 as the Unicode standard draws its line (table 3-7): which bytes are a character, which are
// the largest ill-formed part that one U+FFFD stands for, and which may still become a character.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace redline::files {

struct Utf8Part {
  enum Kind { VALID, INVALID, CUT } kind;  // CUT: ends with the text, before the character does
  std::size_t bytes;                       // at least 1
};
Utf8Part first_utf8(std::string_view text);  // of a text that is not empty

// Calls run(part, valid) for the longest stretches that are well-formed, or not, in order.
template <class Run>
void for_each_run(std::string_view text, Run run) {
  std::size_t start = 0;
  bool valid = true;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Part part = first_utf8(text.substr(at));
    const bool well_formed = part.kind == Utf8Part::VALID;
    if (well_formed != valid && at > start) {
      run(text.substr(start, at - start), valid);
      start = at;
    }
    valid = well_formed;
    at += part.bytes;
  }
  if (start < text.size()) run(text.substr(start), valid);
}

bool is_utf8(std::string_view text);  // well-formed throughout

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// 'text' in quotes and fit for a message: what lies past `limit_bytes` becomes an ellipsis,
// control characters and ill-formed bytes are escaped.
std::string printable(std::string_view text, std::size_t limit_bytes = 80);

}  // namespace redline::files
