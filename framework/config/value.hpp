// SPDX-License-Identifier: Apache-2.0
// A YAML document as a tree of values that remember file and line. Duplicate keys and numbers such
// as 012 are errors with their line. Knows no key by name.
#pragma once
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redline/error.hpp"

namespace redline::config {

class Value {
 public:
  enum class Type { NOTHING, SCALAR, LIST, MAP };
  Type type = Type::NOTHING;
  std::string scalar;                                   // as written, unquoted
  bool quoted = false;
  std::vector<Value> items;                             // LIST
  std::vector<std::pair<std::string, Value>> fields;    // MAP, in file order
  std::string where;                                    // "quickstart.yaml:14", "command line: a.b=v"

  bool exists() const { return type != Type::NOTHING; }
  const Value* find(std::string_view key) const;        // null when absent or not a map
  // Typed reads; InputError with `where`, what was wanted and what stands there.
  std::string text() const;
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  double number(double low, double high) const;
  bool boolean() const;
  // InputError for a key that is not in `known`: file:line and the nearest known name.
  void only(std::initializer_list<std::string_view> known, std::string_view group) const;
};

Value load(const std::filesystem::path& file);                 // InputError
Value parse(std::string_view yaml, std::string_view name);
void set(Value& root, std::string_view dotted, const Value& value);  // a.b.c, creates maps
void apply_override(Value& root, std::string_view assignment);       // "a.b=v", "+a.b=v", "~a.b"
std::string to_yaml(const Value& value);
std::string to_json(const Value& value);                       // canonical: sorted keys, no spaces
std::string nearest(std::string_view word, const std::vector<std::string>& known);  // "" when none is near

}  // namespace redline::config
