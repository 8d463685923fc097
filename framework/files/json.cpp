// SPDX-License-Identifier: Apache-2.0
#include "files/json.hpp"

#include <fstream>
#include <iterator>

#include "redline/error.hpp"

namespace redline::files {

json::value parse_json(std::string_view text, const std::string& place) {
  json::stream_parser parser;
  json::error_code error;
  const std::size_t read = parser.write_some(text.data(), text.size(), error);
  if (!error) parser.finish(error);
  const auto rest = std::string_view(text).substr(std::min(read, text.size()));
  const bool more = rest.find_first_not_of(" \t\r\n") != std::string_view::npos;
  if (error || more)
    throw InputError(place + ": not JSON: " + (error ? error.message() : "more after its end") +
                     " at byte " + std::to_string(read));
  return parser.release();
}

json::value read_json(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw InputError(path.string() + ": cannot be read");
  return parse_json(text, path.string());
}

}  // namespace redline::files
