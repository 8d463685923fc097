// SPDX-License-Identifier: Apache-2.0
#include "files/utf8.hpp"

#include <cstdint>

namespace redline::files {

Utf8Part first_utf8(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {Utf8Part::VALID, 1};
  if (lead < 0xC2 || lead > 0xF4) return {Utf8Part::INVALID, 1};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte shuts out overlong forms, surrogates and what lies past U+10FFFF.
  std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t at = 1; at < length; ++at) {
    if (at == text.size()) return {Utf8Part::CUT, at};
    if (byte(at) < low || byte(at) > high) return {Utf8Part::INVALID, at};
    low = 0x80;
    high = 0xBF;
  }
  return {Utf8Part::VALID, length};
}

bool is_utf8(std::string_view text) {
  bool all = true;
  for_each_run(text, [&](std::string_view, bool well_formed) { all = all && well_formed; });
  return all;
}

std::string printable(std::string_view text, std::size_t limit_bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  for (std::size_t at = 0; at < text.size();) {
    if (at >= limit_bytes) return out + "...'";
    const auto [kind, length] = first_utf8(text.substr(at));
    const auto c = static_cast<std::uint8_t>(text[at]);
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\'' || c == '\\') {
      out += {'\\', static_cast<char>(c)};
    } else if (kind != Utf8Part::VALID || c < 0x20 || c == 0x7F) {
      for (const char each : text.substr(at, length)) {
        const auto value = static_cast<std::uint8_t>(each);
        out += {'\\', 'x', kHex[value >> 4], kHex[value & 15]};
      }
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  return out + "'";
}

}  // namespace redline::files
