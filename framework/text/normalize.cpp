// SPDX-License-Identifier: Apache-2.0
#include "text/normalize.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "files/utf8.hpp"
#include "redline/error.hpp"

namespace redline::text {
namespace {

// Nothing below U+0300 (lead byte 0xCC) composes or decomposes under form C.
bool is_composed(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<std::uint8_t>(c) < 0xCC; });
}

void compose_run(std::string_view run, std::string& out) {
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t length =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(run.data()),
                   static_cast<utf8proc_ssize_t>(run.size()), &result,
                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(result, std::free);
  if (length < 0)
    throw Error(std::string("utf8proc cannot compose a text: ") + utf8proc_errmsg(length));
  out.append(reinterpret_cast<const char*>(result), static_cast<std::size_t>(length));
}

}  // namespace

std::string compose(std::string_view text) {
  if (is_composed(text)) return std::string(text);
  std::string out;
  files::for_each_run(text, [&](std::string_view run, bool valid) {
    valid ? compose_run(run, out) : void(out += run);
  });
  return out;
}

}  // namespace redline::text
