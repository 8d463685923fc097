// SPDX-License-Identifier: Apache-2.0
// Foreign bytes made fit for a message: clipped, control characters and invalid UTF-8 escaped.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace redline::files {

// 'text' in quotes; what lies past `limit_bytes` becomes an ellipsis.
std::string printable(std::string_view text, std::size_t limit_bytes = 80);

// Bytes of the UTF-8 character that begins `text`: 1 to 4, or 0 where none is well-formed there
// (overlong forms, surrogates and values past U+10FFFF are not).
std::size_t utf8_length(std::string_view text);

}  // namespace redline::files
