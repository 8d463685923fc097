// SPDX-License-Identifier: Apache-2.0
#include "experiment/score.hpp"

#include "files/json.hpp"

namespace redline::experiment {
namespace {

namespace json = files::json;

constexpr std::size_t kMostOpenings = 1000;  // braces tried before a text counts as garbage

// Of the object that opens at text[0]: where it ends, 0 when it does not. Braces in strings are
// text.
std::size_t end_of_object(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return i + 1;
  }
  return 0;
}

bool parses(std::string_view text) {
  boost::system::error_code error;
  json::parse(json::string_view(text.data(), text.size()), error);
  return !error;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool same(const json::value& a, const json::value& b);

bool same_lists(const json::array& a, const json::array& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}

bool same_objects(const json::object& a, const json::object& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a) {
    const json::value* other = b.if_contains(key);
    if (other == nullptr || !same(value, *other)) return false;
  }
  return true;
}

bool same(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) return a.to_number<double>() == b.to_number<double>();
  if (a.kind() != b.kind()) return false;
  if (a.is_string()) return trimmed(a.get_string()) == trimmed(b.get_string());
  if (a.is_array()) return same_lists(a.get_array(), b.get_array());
  if (a.is_object()) return same_objects(a.get_object(), b.get_object());
  return a == b;  // truths and null
}

struct Fields {
  int all = 0, right = 0;
};

// `found` is null where the answer has no object in this place.
void compare(const json::object& wanted, const json::object* found, Fields& fields) {
  for (const auto& [key, value] : wanted) {
    const json::value* answer = found ? found->if_contains(key) : nullptr;
    if (value.is_object() && !value.get_object().empty()) {
      compare(value.get_object(), answer ? answer->if_object() : nullptr, fields);
      continue;
    }
    ++fields.all;
    fields.right += answer != nullptr && same(value, *answer);
  }
}

}  // namespace

std::string_view first_json_object(std::string_view text) {
  std::size_t at = text.find('{');
  for (std::size_t n = 0; n < kMostOpenings && at != std::string_view::npos; ++n) {
    const std::size_t length = end_of_object(text.substr(at));
    if (length && parses(text.substr(at, length))) return text.substr(at, length);
    at = text.find('{', at + 1);
  }
  return {};
}

double score_json_fields(std::string_view reference, std::string_view text) {
  const std::string_view object = first_json_object(text);
  json::value answer;
  if (!object.empty()) answer = json::parse(json::string_view(object.data(), object.size()));
  Fields fields;
  const json::value wanted = json::parse(json::string_view(reference.data(), reference.size()));
  compare(wanted.as_object(), answer.if_object(), fields);
  return fields.all ? static_cast<double>(fields.right) / fields.all : 0;
}

}  // namespace redline::experiment
