// SPDX-License-Identifier: Apache-2.0
// Unicode's normalization form C; ill-formed bytes stay as they are.
#pragma once
#include <string>
#include <string_view>

namespace redline::text {

std::string compose(std::string_view text);

}  // namespace redline::text
