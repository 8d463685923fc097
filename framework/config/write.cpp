// SPDX-License-Identifier: Apache-2.0
// Values to text: JSON for machines (canonical) and for people, YAML in block style.
#include <algorithm>
#include <charconv>
#include <regex>
#include <utility>

#include "config/value.hpp"

namespace redline::config {
namespace {

std::string in_quotes(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out += '"';
}

bool digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return digits(text) && (text.size() == 1 || text[0] != '0');
}

// As JSON: numbers in their shortest form, so that 0.80 and 0.8 are one value.
std::string scalar_json(const Value& value) {
  const std::string& text = value.scalar;
  if (value.quoted) return in_quotes(text);
  if (text == "true" || text == "false" || whole(text)) return text;
  double number = 0;
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  const Value read = Value::of(number);
  if (error != std::errc() || end != text.data() + text.size() || !read.exists())
    return in_quotes(text);
  return read.scalar;
}

template <class Fields>
std::vector<const typename Fields::value_type*> sorted(const Fields& fields) {
  std::vector<const typename Fields::value_type*> order;
  for (const auto& field : fields) order.push_back(&field);
  std::ranges::sort(order, {},
                    [](const auto* field) -> const std::string& { return field->first; });
  return order;
}

void write_json(const Value& value, std::string& out) {
  switch (value.type) {
    case Value::Type::NOTHING:
      out += "null";
      return;
    case Value::Type::SCALAR:
      out += scalar_json(value);
      return;
    case Value::Type::LIST: {
      out += '[';
      const char* comma = "";
      for (const Value& item : value.items) {
        out += std::exchange(comma, ",");
        write_json(item, out);
      }
      out += ']';
      return;
    }
    case Value::Type::MAP: {
      out += '{';
      const char* comma = "";
      for (const auto* field : sorted(value.fields)) {
        out.append(std::exchange(comma, ",")).append(in_quotes(field->first)) += ':';
        write_json(field->second, out);
      }
      out += '}';
    }
  }
}

void write_pretty(const Value& value, std::string& out, int depth) {
  const std::string pad(2 * (depth + 1), ' ');
  const bool map = value.type == Value::Type::MAP;
  const bool flat =
      value.type == Value::Type::LIST && std::ranges::none_of(value.items, [](const Value& item) {
        return item.type == Value::Type::MAP || item.type == Value::Type::LIST;
      });
  if (flat || (!map && value.type != Value::Type::LIST) || (map && value.fields.empty())) {
    out += to_json(value);
    return;
  }
  out += map ? "{\n" : "[\n";
  const std::size_t count = map ? value.fields.size() : value.items.size();
  for (std::size_t i = 0; i < count; ++i) {
    out += pad;
    if (map) out += in_quotes(value.fields[i].first) + ": ";
    write_pretty(map ? value.fields[i].second : value.items[i], out, depth + 1);
    out += i + 1 < count ? ",\n" : "\n";
  }
  out.append(2 * depth, ' ') += map ? '}' : ']';
}

void write_yaml(const Value& value, std::string& out, int depth) {
  const bool map = value.type == Value::Type::MAP && !value.fields.empty();
  const bool list = value.type == Value::Type::LIST && !value.items.empty();
  if (!map && !list) {
    out.append(depth ? " " : "").append(to_json(value)) += '\n';
    return;
  }
  if (depth) out += '\n';
  const std::string pad(2 * depth, ' ');
  for (const auto& [name, field] : value.fields) {
    static const std::regex kBare("[A-Za-z_][A-Za-z0-9_.-]*");
    const bool bare = std::regex_match(name, kBare) && name != "true" && name != "false" &&
                      name != "null" && name != "Null" && name != "NULL";
    out.append(pad).append(bare ? name : in_quotes(name)) += ':';
    write_yaml(field, out, depth + 1);
  }
  for (const Value& item : value.items) {
    out.append(pad) += '-';
    write_yaml(item, out, depth + 1);
  }
}

}  // namespace

std::string to_json(const Value& value) {
  std::string out;
  write_json(value, out);
  return out;
}

std::string to_pretty_json(const Value& value) {
  std::string out;
  write_pretty(value, out, 0);
  return out + "\n";
}

std::string to_yaml(const Value& value) {
  std::string out;
  write_yaml(value, out, 0);
  return out;
}

}  // namespace redline::config
