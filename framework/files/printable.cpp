// SPDX-License-Identifier: Apache-2.0
#include "files/printable.hpp"

#include <cstdint>

namespace redline::files {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<std::uint8_t>(text[at]) : std::uint8_t{0};
  };
  const auto follows = [&](std::size_t at) { return (byte(at) & 0xC0) == 0x80; };
  const std::uint8_t lead = byte(0), second = byte(1);
  if (text.empty()) return 0;
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return follows(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && second < 0xA0;
    const bool surrogate = lead == 0xED && second > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && second < 0x90;
    const bool too_large = lead == 0xF4 && second > 0x8F;
    return follows(1) && follows(2) && follows(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

std::string printable(std::string_view text, std::size_t limit_bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  for (std::size_t at = 0; at < text.size();) {
    if (at >= limit_bytes) return out + "...'";
    const std::size_t length = utf8_length(text.substr(at));
    const auto c = static_cast<std::uint8_t>(text[at]);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\'' || c == '\\') {
      out += {'\\', static_cast<char>(c)};
    } else if (length == 0 || c < 0x20 || c == 0x7F) {
      out += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
    } else {
      out += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return out + "'";
}

}  // namespace redline::files
