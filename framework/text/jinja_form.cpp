// SPDX-License-Identifier: Apache-2.0
#include "text/jinja_form.hpp"

#include <algorithm>
#include <cctype>

namespace redline::text {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool is_blank(char c) { return kBlanks.find(c) != std::string_view::npos; }

// The end of a tag that begins at the front of `text`: past its %} or }}, strings respected.
std::size_t tag_end(std::string_view text) {
  const std::string_view close = text[1] == '%' ? "%}" : "}}";
  char quote = 0;
  for (std::size_t at = 2; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == '\\') ++at;
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (text.substr(at, 2) == close) {
      return at + 2;
    }
  }
  return text.size();
}

struct Tag {
  std::string_view inside;  // without braces and dashes
  bool block;               // {% %}, not {{ }}
  bool strips_before, strips_after;
};

Tag parse_tag(std::string_view tag) {
  Tag out{tag.substr(2, tag.size() - std::min<std::size_t>(tag.size(), 4)), tag[1] == '%', false,
          false};
  out.strips_before = out.inside.starts_with('-');
  if (out.strips_before) out.inside.remove_prefix(1);
  out.strips_after = out.inside.ends_with('-');
  if (out.strips_after) out.inside.remove_suffix(1);
  return out;
}

// What Jinja prints of the text between two tags; nullptr where there is none.
std::string_view printed(std::string_view literal, const Tag* before, const Tag* after) {
  if (before != nullptr && before->block && literal.starts_with('\n')) literal.remove_prefix(1);
  if (before != nullptr && before->strips_after)
    literal.remove_prefix(std::min(literal.find_first_not_of(kBlanks), literal.size()));
  if (after != nullptr && after->strips_before)
    return literal.substr(0, literal.find_last_not_of(kBlanks) + 1);
  if (after != nullptr &&
      after->block) {  // lstrip_blocks: the indent of a line that begins with it
    const std::size_t end = literal.find_last_not_of(" \t") + 1;
    if (end == 0 || literal[end - 1] == '\n') return literal.substr(0, end);
  }
  return literal;
}

// "['role']" at the front of `text`, as an attribute; empty if it is not one.
std::string_view subscript(std::string_view text) {
  if (text.size() < 5 || text[0] != '[' || (text[1] != '\'' && text[1] != '"')) return {};
  const std::size_t end = text.find(text[1], 2);
  if (end == std::string_view::npos || text.substr(end + 1, 1) != "]") return {};
  const std::string_view name = text.substr(2, end - 2);
  const bool word = std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
  });
  return word ? name : std::string_view{};
}

std::string canonical_inside(std::string_view inside) {
  std::string out;
  char quote = 0;
  for (std::size_t at = 0; at < inside.size(); ++at) {
    const char c = inside[at];
    const std::string_view name = quote == 0 ? subscript(inside.substr(at)) : std::string_view{};
    if (quote != 0 && c == '\\') {
      const std::string_view escape = inside.substr(at++, 2);
      out += escape == "\\n" ? "\n" : escape;
    } else if (c == quote || (quote == 0 && (c == '\'' || c == '"'))) {
      quote = quote == 0 ? c : '\0';
      out += '\'';
    } else if (quote != 0) {
      out += c;
    } else if (!name.empty()) {
      out += '.';
      out += name;
      at += name.size() + 3;
    } else if (!is_blank(c)) {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string canonical_template(std::string_view source) {
  if (source.ends_with('\n')) source.remove_suffix(1);  // as Jinja does
  std::string out;
  std::optional<Tag> before;
  while (!source.empty()) {
    const std::size_t start = std::min({source.find("{%"), source.find("{{"), source.size()});
    const std::string_view literal = source.substr(0, start);
    source.remove_prefix(start);
    std::optional<Tag> tag;
    if (!source.empty()) {
      const std::size_t end = tag_end(source);
      tag = parse_tag(source.substr(0, end));
      source.remove_prefix(end);
    }
    out += printed(literal, before ? &*before : nullptr, tag ? &*tag : nullptr);
    if (tag) {
      out += tag->block ? "{%" : "{{";
      out += canonical_inside(tag->inside);
      out += tag->block ? "%}" : "}}";
    }
    before = tag;
  }
  return out;
}

std::optional<std::vector<std::string_view>> match_form(std::string_view form,
                                                        std::string_view text) {
  std::vector<std::string_view> held;
  for (bool first = true;; first = false) {
    const std::size_t gap = std::min(form.find(kAnyText), form.size());
    const std::string_view part = form.substr(0, gap);
    const bool last = gap == form.size();
    const std::size_t at = first  ? 0
                           : last ? text.size() - std::min(part.size(), text.size())
                                  : text.find(part);
    if (at == std::string_view::npos || text.substr(at, part.size()) != part) return std::nullopt;
    if (!first) held.push_back(text.substr(0, at));
    text.remove_prefix(at + part.size());
    if (last) return text.empty() ? std::optional(held) : std::nullopt;
    form.remove_prefix(gap + 1);
  }
}

}  // namespace redline::text
