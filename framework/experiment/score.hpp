// SPDX-License-Identifier: Apache-2.0
// How right an answer is, by the reference that its item of the data set holds.
#pragma once
#include <string>
#include <string_view>

namespace redline::experiment {

inline constexpr std::string_view kScoreJsonFields = "json_fields";

// The share of the reference's fields that the first JSON object in the text has right: numbers by
// value, texts without the space around them, fields of nested objects one by one, lists and null
// as a whole. 0 when the text holds no object. The reference is a JSON object with a field.
double score_json_fields(std::string_view reference, std::string_view text);

// The first JSON object in a text, "" when there is none: behind prose, inside a code fence, after
// braces that open none.
std::string_view first_json_object(std::string_view text);

}  // namespace redline::experiment
