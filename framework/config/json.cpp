// SPDX-License-Identifier: Apache-2.0
// The only file of this room that sees Boost.JSON.
#include <boost/json.hpp>

#include "config/value.hpp"

namespace redline::config {
namespace {

Value converted(const boost::json::value& from, const std::string& where) {
  Value to;
  if (const auto* text = from.if_string()) {
    to = Value::of(std::string_view(text->data(), text->size()));
  } else if (const auto* whole = from.if_int64()) {
    to = Value::of(*whole);
  } else if (const auto* natural = from.if_uint64()) {
    to = Value::of(*natural);
  } else if (const auto* number = from.if_double()) {
    to = Value::of(*number);
  } else if (const auto* truth = from.if_bool()) {
    to = Value::of(*truth);
  } else if (const auto* list = from.if_array()) {
    to.type = Value::Type::LIST;
    for (const auto& item : *list) to.items.push_back(converted(item, where));
  } else if (const auto* object = from.if_object()) {
    to.type = Value::Type::MAP;
    to.fields.reserve(object->size());
    for (const auto& field : *object) {
      Value value = converted(field.value(), where);
      value.key = field.key();
      to.fields.emplace_back(field.key(), std::move(value));
    }
  }
  to.where = where;
  return to;
}

}  // namespace

Value parse_json(std::string_view json, std::string_view where) {
  boost::system::error_code error;
  boost::json::stream_parser parser;  // its depth is limited to 32
  std::size_t used = parser.write_some({json.data(), json.size()}, error);
  if (!error && used < json.size() &&
      json.find_first_not_of(" \t\r\n", used) != std::string_view::npos)
    error = boost::json::error::extra_data;
  if (!error) parser.finish(error);
  if (error)
    throw InputError(std::string(where) + ": not JSON: " + error.message() + " at byte " +
                     std::to_string(used));
  return converted(parser.release(), std::string(where));
}

}  // namespace redline::config
