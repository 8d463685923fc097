// SPDX-License-Identifier: Apache-2.0
// What a misspelt name was meant to be.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace redline::plugin {

// "; did you mean 'x'? Known: a, b, x", the question left out when no name is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace redline::plugin
