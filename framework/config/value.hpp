// SPDX-License-Identifier: Apache-2.0
// A YAML or JSON document as a tree of values that remember file and line. Duplicate keys and
// numbers such as 012 are errors with their line. Knows no key by name.
#pragma once
#include <concepts>
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
  Value();  // in value.cpp: only behind this class is pair<string, Value> complete, and clang looks
  Type type = Type::NOTHING;
  std::string scalar;                                 // as written, unquoted
  bool quoted = false;                                // a text, whatever it looks like
  std::vector<Value> items;                           // LIST
  std::vector<std::pair<std::string, Value>> fields;  // MAP, in file order
  std::string where;                                  // "quickstart.yaml:14", "command line: a.b=v"
  std::string key;                                    // of the field it fills, "" when none

  bool exists() const { return type != Type::NOTHING; }
  const Value* find(std::string_view key) const;  // null when absent or not a map
  Value* find(std::string_view key);
  // The field; InputError when it is missing.
  const Value& at(std::string_view key) const;
  // Typed reads; InputError with `where`, what was wanted and what stands there.
  std::string text() const;
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  std::uint64_t natural() const;  // the whole range of a 64-bit key or seed
  double number(double low, double high) const;
  bool boolean() const;
  const std::vector<Value>& list() const;
  // InputError for a key that is not in `known`: file:line and the nearest known name.
  void only(std::initializer_list<std::string_view> known, std::string_view group) const;
  // InputError at this value: "file:line: 'key' <problem>".
  [[noreturn]] void refuse(std::string_view problem) const;

  // Building: documents that the program writes are values too.
  static Value of(std::string_view text);
  static Value of(const char* text) { return of(std::string_view(text)); }
  static Value of(double number);  // not finite: nothing, null in JSON
  static Value of(bool truth);
  template <std::integral T>
  static Value of(T number) {
    return plain(std::to_string(number));
  }
  static Value map();
  static Value list_of(std::vector<Value> items);
  Value& put(std::string_view key, Value value);  // replaces, or appends; returns *this

 private:
  static Value plain(std::string scalar);
};

Value load(const std::filesystem::path& file);  // InputError
Value parse(std::string_view yaml, std::string_view name);
Value parse_json(std::string_view json, std::string_view where);  // one document, one `where`
void set(Value& root, std::string_view dotted,
         const Value& value);                                   // a.b.c, creates maps; a.0: item
const Value* get(const Value& root, std::string_view dotted);   // null when absent
void apply_override(Value& root, std::string_view assignment);  // "a.b=v", "+a.b=v", "~a.b"

// One `-m` axis: "a.b=1,2,[3,4]" is a.b with three values.
struct Axis {
  std::string path;
  std::vector<Value> values;
};
Axis parse_axis(std::string_view assignment);

std::string to_yaml(const Value& value);
std::string to_json(const Value& value);         // canonical: sorted keys, no spaces
std::string to_pretty_json(const Value& value);  // for people: file order, two spaces
std::string nearest(std::string_view word,
                    const std::vector<std::string>& known);  // "" when none is near

}  // namespace redline::config
