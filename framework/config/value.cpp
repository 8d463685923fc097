// SPDX-License-Identifier: Apache-2.0
#include "config/value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace redline::config {
namespace {

std::string shown(double number) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return {buffer, end};
}

std::string described(const Value& value) {
  switch (value.type) {
    case Value::Type::NOTHING:
      return "nothing stands there";
    case Value::Type::LIST:
      return "a list stands there";
    case Value::Type::MAP:
      return "a group of keys stands there";
    default:
      return std::string("'").append(value.scalar, 0, 80) + "' stands there";
  }
}

template <class T>
bool parses(std::string_view text, T& out) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool plain_scalar(const Value& value) { return value.type == Value::Type::SCALAR && !value.quoted; }

}  // namespace

Value::Value() = default;

const Value* Value::find(std::string_view name) const {
  const auto it = std::ranges::find(fields, name, &std::pair<std::string, Value>::first);
  return it == fields.end() ? nullptr : &it->second;
}

Value* Value::find(std::string_view name) {
  return const_cast<Value*>(std::as_const(*this).find(name));
}

const Value& Value::at(std::string_view name) const {
  if (const Value* found = find(name)) return *found;
  refuse("lacks the key '" + std::string(name) + "'");
}

void Value::refuse(std::string_view problem) const {
  std::string message = where.empty() ? "" : where + ": ";
  if (!key.empty()) message += "'" + key + "' ";
  throw InputError(message.append(problem));
}

std::string Value::text() const {
  if (type != Type::SCALAR) refuse("must be a text, but " + described(*this));
  return scalar;
}

std::int64_t Value::integer(std::int64_t low, std::int64_t high) const {
  std::int64_t found = 0;
  if (!plain_scalar(*this) || !parses(scalar, found) || found < low || found > high)
    refuse("must be a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
           ", but " + described(*this));
  return found;
}

std::uint64_t Value::natural() const {
  std::uint64_t found = 0;
  if (!plain_scalar(*this) || !parses(scalar, found))
    refuse("must be a whole number from 0 to 2^64 - 1, but " + described(*this));
  return found;
}

double Value::number(double low, double high) const {
  double found = 0;
  if (!plain_scalar(*this) || !parses(scalar, found) || !(found >= low && found <= high))
    refuse("must be a number from " + shown(low) + " to " + shown(high) + ", but " +
           described(*this));
  return found;
}

bool Value::boolean() const {
  if (!plain_scalar(*this) || (scalar != "true" && scalar != "false"))
    refuse("must be true or false, but " + described(*this));
  return scalar == "true";
}

const std::vector<Value>& Value::list() const {
  if (type != Type::LIST) refuse("must be a list, but " + described(*this));
  return items;
}

void Value::only(std::initializer_list<std::string_view> known, std::string_view group) const {
  if (type != Type::MAP) refuse("must be a group of keys, but " + described(*this));
  for (const auto& [name, value] : fields) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::vector<std::string> names(known.begin(), known.end());
    const std::string near = nearest(name, names);
    std::string problem =
        group.empty() ? "is no key of an experiment" : "is no key of '" + std::string(group) + "'";
    if (!near.empty()) {
      problem += "; the nearest is '" + near + "'";
    } else {
      problem += "; it knows";
      for (const std::string& n : names) problem += (n == names.front() ? " " : ", ") + n;
    }
    value.refuse(problem);
  }
}

Value Value::plain(std::string scalar) {
  Value value;
  value.type = Type::SCALAR;
  value.scalar = std::move(scalar);
  return value;
}

Value Value::of(std::string_view text) {
  Value value = plain(std::string(text));
  value.quoted = true;
  return value;
}

Value Value::of(double number) { return std::isfinite(number) ? plain(shown(number)) : Value{}; }
Value Value::of(bool truth) { return plain(truth ? "true" : "false"); }

Value Value::map() {
  Value value;
  value.type = Type::MAP;
  return value;
}

Value Value::list_of(std::vector<Value> items) {
  Value value;
  value.type = Type::LIST;
  value.items = std::move(items);
  return value;
}

Value& Value::put(std::string_view name, Value value) {
  type = Type::MAP;
  value.key = name;
  if (Value* old = find(name)) {
    *old = std::move(value);
  } else {
    fields.emplace_back(name, std::move(value));
  }
  return *this;
}

}  // namespace redline::config
