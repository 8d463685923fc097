// SPDX-License-Identifier: Apache-2.0
// JSON for all rooms: Boost.JSON's values, and reading whose errors name the place.
#pragma once
#include <boost/json.hpp>
#include <filesystem>
#include <string>
#include <string_view>

namespace redline::files {

namespace json = boost::json;

// `place` names the text in errors: a file, or a file and line.
json::value parse_json(std::string_view text, const std::string& place);
json::value read_json(const std::filesystem::path& path);

}  // namespace redline::files
