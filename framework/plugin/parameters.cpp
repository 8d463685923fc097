// SPDX-License-Identifier: Apache-2.0
#include "plugin/parameters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "plugin/nearest.hpp"

namespace redline::plugin {
namespace {

std::string text(double x) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
  return std::string(buffer, end);
}
std::string text(int x) { return std::to_string(x); }

// The whole of `in` as a number, in plain decimal; infinities and NaN are not numbers here.
template <class T>
bool parse(std::string_view in, T& out) {
  const auto [end, error] = std::from_chars(in.data(), in.data() + in.size(), out);
  return error == std::errc() && end == in.data() + in.size() &&
         std::isfinite(static_cast<double>(out));
}

}  // namespace

Reader::Reader(std::string plugin, Arguments arguments)
    : plugin_(std::move(plugin)), arguments_(std::move(arguments)), taken_(arguments_.size()) {
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (arguments_[i].name == arguments_[j].name)
        throw InputError(arguments_[i].where + ": " + plugin_ + ": parameter '" +
                         arguments_[i].name + "' was given at " + arguments_[j].where + " already");
}

const Argument* Reader::take(std::string_view name) {
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    if (arguments_[i].name == name) {
      taken_[i] = true;
      return &arguments_[i];
    }
  return nullptr;
}
void Reader::refuse(const Argument& a, const std::string& wanted) const {
  throw InputError(a.where + ": " + plugin_ + ": " + a.name + " is '" + a.value + "', must be " +
                   wanted);
}
void Reader::note(std::string_view name, std::string_view type, std::string value,
                  std::string range, std::string_view about) {
  parameters_.push_back({std::string(name), std::string(type), std::move(value), std::move(range),
                         std::string(about)});
}

template <class T>
void Reader::number(std::string_view name, T& value, Range range, std::string_view type,
                    std::string_view about) {
  const std::string span = text(range.low) + " to " + text(range.high);
  if (const Argument* a = take(name)) {
    T read{};
    if (!parse(a->value, read) || read < range.low || read > range.high)
      refuse(*a, (type == "integer" ? "an integer from " : "a number from ") + span);
    value = read;
  }
  note(name, type, text(value), span, about);
}
void Reader::operator()(std::string_view name, int& value, Range range, std::string_view about) {
  number(name, value, range, "integer", about);
}
void Reader::operator()(std::string_view name, double& value, Range range, std::string_view about) {
  number(name, value, range, "number", about);
}
void Reader::operator()(std::string_view name, bool& value, std::string_view about) {
  if (const Argument* a = take(name)) {
    if (a->value != "true" && a->value != "false") refuse(*a, "true or false");
    value = a->value == "true";
  }
  note(name, "boolean", value ? "true" : "false", "true or false", about);
}
void Reader::operator()(std::string_view name, std::string& value, std::string_view about) {
  if (const Argument* a = take(name)) value = a->value;
  note(name, "text", value, "", about);
}
void Reader::operator()(std::string_view name, std::string& value, Choices choices,
                        std::string_view about) {
  std::string listed;
  for (const std::string_view c : choices) (listed += listed.empty() ? "" : " | ") += c;
  if (const Argument* a = take(name)) {
    if (std::find(choices.begin(), choices.end(), a->value) == choices.end())
      refuse(*a, "one of " + listed);
    value = a->value;
  }
  note(name, "choice", value, listed, about);
}

void Reader::finish() const {
  const auto wrong = std::find(taken_.begin(), taken_.end(), false);
  if (wrong == taken_.end()) return;
  const Argument& a = arguments_[wrong - taken_.begin()];
  std::vector<std::string> names;
  for (const Parameter& p : parameters_) names.push_back(p.name);
  throw InputError(a.where + ": " + plugin_ + " has no parameter '" + a.name + "'" +
                   (names.empty() ? "; it has none" : suggestion(a.name, names)));
}

}  // namespace redline::plugin
