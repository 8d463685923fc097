// SPDX-License-Identifier: Apache-2.0
// The 256 printable characters in which byte-level BPE vocabularies spell bytes (GPT-2's table).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace redline::text {

// "Ġhello" to " hello"; nullopt where a character is not of the alphabet.
std::optional<std::string> bytes_of(std::string_view piece);

// The way back, for generated models and tests.
std::string piece_of(std::string_view bytes);

}  // namespace redline::text
