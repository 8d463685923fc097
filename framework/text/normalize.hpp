// SPDX-License-Identifier: Apache-2.0
// Normalization form C as the `tokenizers` package makes it: with the tables of Unicode 9, so that
// a combining mark that is newer stays where it stands. Bytes that are no text (ill-formed
// anywhere) stay as they are, so that they come back from their tokens.
#pragma once
#include <string>
#include <string_view>

namespace redline::text {

std::string compose(std::string_view text);

}  // namespace redline::text
