// SPDX-License-Identifier: Apache-2.0
// One spelling for templates that mean the same, and a comparison with known forms. Not a Jinja
// engine: it runs nothing.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redline::text {

// Blanks that Jinja drops (inside tags; around them as -, trim_blocks and lstrip_blocks say, which
// is how `transformers` renders) are gone, strings are in single quotes with \n a newline, and
// message['role'] is message.role.
std::string canonical_template(std::string_view source);

// Stands for any text in a form. What the places hold, in order; nullopt: not of this form.
inline constexpr char kAnyText = '\1';
std::optional<std::vector<std::string_view>> match_form(std::string_view form,
                                                        std::string_view text);

}  // namespace redline::text
