// SPDX-License-Identifier: Apache-2.0
#include "text/normalize.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "files/utf8.hpp"
#include "redline/error.hpp"

namespace redline::text {
namespace {

// What reorders or composes since a Unicode newer than 9 (to 15, the newest of utf8proc 2.8).
struct Range {
  utf8proc_int32_t first, last;
};
constexpr std::array kNewer{
    Range{0x07FD, 0x07FD},   Range{0x0898, 0x089F},   Range{0x08CA, 0x08D3},
    Range{0x09FE, 0x09FE},   Range{0x0C3C, 0x0C3C},   Range{0x0D3B, 0x0D3C},
    Range{0x0EBA, 0x0EBA},   Range{0x1715, 0x1715},   Range{0x1ABF, 0x1ACE},
    Range{0x1DF6, 0x1DFA},   Range{0xA82C, 0xA82C},   Range{0x10D24, 0x10D27},
    Range{0x10EAB, 0x10EAC}, Range{0x10EFD, 0x10EFF}, Range{0x10F46, 0x10F50},
    Range{0x10F82, 0x10F85}, Range{0x11070, 0x11070}, Range{0x1133B, 0x1133B},
    Range{0x1145E, 0x1145E}, Range{0x11839, 0x1183A}, Range{0x11930, 0x11930},
    Range{0x1193D, 0x1193E}, Range{0x11943, 0x11943}, Range{0x119E0, 0x119E0},
    Range{0x11A34, 0x11A34}, Range{0x11A47, 0x11A47}, Range{0x11A99, 0x11A99},
    Range{0x11D42, 0x11D42}, Range{0x11D44, 0x11D45}, Range{0x11D97, 0x11D97},
    Range{0x11F41, 0x11F42}, Range{0x16FF0, 0x16FF1}, Range{0x1E08F, 0x1E08F},
    Range{0x1E130, 0x1E136}, Range{0x1E2AE, 0x1E2AE}, Range{0x1E2EC, 0x1E2EF},
    Range{0x1E4EC, 0x1E4EF},
};

bool is_newer(utf8proc_int32_t character) {
  const auto range = std::find_if(kNewer.begin(), kNewer.end(),
                                  [&](const Range& each) { return character <= each.last; });
  return range != kNewer.end() && character >= range->first;
}

const utf8proc_uint8_t* data(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

// Nothing below U+0300 (lead byte 0xCC) moves under form C.
bool is_composed(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<std::uint8_t>(c) < 0xCC; });
}

void compose_part(std::string_view part, std::string& out) {
  if (is_composed(part)) {
    out += part;
    return;
  }
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(data(part), static_cast<utf8proc_ssize_t>(part.size()), &result,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(result, std::free);
  if (length < 0)
    throw Error(std::string("utf8proc cannot compose a text: ") + utf8proc_errmsg(length));
  out.append(reinterpret_cast<const char*>(result), static_cast<std::size_t>(length));
}

// Nothing moves across a newer mark, so the parts between them are composed on their own.
void compose_characters(std::string_view text, std::string& out) {
  std::size_t start = 0;
  for (std::size_t at = 0; at < text.size();) {
    utf8proc_int32_t character = 0;
    const auto bytes = static_cast<std::size_t>(utf8proc_iterate(
        data(text.substr(at)), static_cast<utf8proc_ssize_t>(text.size() - at), &character));
    if (is_newer(character)) {
      compose_part(text.substr(start, at - start), out);
      out += text.substr(at, bytes);
      start = at + bytes;
    }
    at += bytes;
  }
  compose_part(text.substr(start), out);
}

}  // namespace

std::string compose(std::string_view text) {
  std::string out(text);
  if (is_composed(text) || !files::is_utf8(text)) return out;
  out.clear();
  compose_characters(text, out);
  return out;
}

}  // namespace redline::text
