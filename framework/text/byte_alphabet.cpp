// SPDX-License-Identifier: Apache-2.0
// Printable Latin-1 bytes stand for themselves; the 68 others, in order, for U+0100 to U+0143.
#include "text/byte_alphabet.hpp"

#include <array>
#include <cstdint>

namespace redline::text {
namespace {

constexpr int kCharacters = 0x144;

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) ||
         (byte >= 0xAE && byte <= 0xFF);
}

struct Tables {
  std::array<std::uint16_t, 256> character{};    // of a byte
  std::array<std::int16_t, kCharacters> byte{};  // of a character, -1 for none
};

constexpr Tables make_tables() {
  Tables tables;
  tables.byte.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const int character = stands_for_itself(byte) ? byte : next++;
    tables.character[static_cast<std::size_t>(byte)] = static_cast<std::uint16_t>(character);
    tables.byte[static_cast<std::size_t>(character)] = static_cast<std::int16_t>(byte);
  }
  return tables;
}
constexpr Tables kTables = make_tables();

}  // namespace

std::optional<std::string> bytes_of(std::string_view piece) {
  std::string out;
  out.reserve(piece.size());
  for (std::size_t at = 0; at < piece.size(); ++at) {
    auto character = static_cast<std::uint8_t>(piece[at]) + 0U;
    if (character >= 0x80) {  // all of the alphabet above ASCII takes two bytes of UTF-8
      if ((character & 0xE0) != 0xC0 || at + 1 == piece.size()) return std::nullopt;
      const auto second = static_cast<std::uint8_t>(piece[++at]);
      if ((second & 0xC0) != 0x80) return std::nullopt;
      character = ((character & 0x1F) << 6) | (second & 0x3FU);
    }
    if (character >= kCharacters || kTables.byte[character] < 0) return std::nullopt;
    out += static_cast<char>(kTables.byte[character]);
  }
  return out;
}

std::string piece_of(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    const unsigned character = kTables.character[static_cast<std::uint8_t>(byte)];
    if (character < 0x80) {
      out += static_cast<char>(character);
    } else {
      out += {static_cast<char>(0xC0 | (character >> 6)),
              static_cast<char>(0x80 | (character & 0x3F))};
    }
  }
  return out;
}

}  // namespace redline::text
