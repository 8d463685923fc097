// SPDX-License-Identifier: Apache-2.0
// Overrides as Hydra writes them: "a.b=v" sets, "+a.b=v" adds, "~a.b" takes away; a number in a
// path is an item of a list.
#include <charconv>

#include "config/value.hpp"

namespace redline::config {
namespace {

constexpr std::size_t kDeepest = 32;

std::vector<std::string> steps_of(std::string_view dotted) {
  std::vector<std::string> steps;
  for (std::size_t from = 0; from <= dotted.size();) {
    const std::size_t dot = std::min(dotted.find('.', from), dotted.size());
    steps.emplace_back(dotted.substr(from, dot - from));
    if (steps.back().empty() || steps.size() > kDeepest)
      throw InputError("command line: '" + std::string(dotted) + "' is no path of keys like a.b");
    from = dot + 1;
  }
  return steps;
}

// The item of a list that `step` names, or null.
template <class V>
V* item_of(V& list, const std::string& step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || *end != '\0' || index >= list.items.size()) return nullptr;
  return &list.items[index];
}

// A value put in by the user at the command line answers with the override, not with a line.
void place(Value& value, const std::string& where) {
  value.where = where;
  for (Value& item : value.items) place(item, where);
  for (auto& field : value.fields) place(field.second, where);
}

struct Assignment {
  std::string path;
  Value value;
};

Assignment split(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw InputError("command line: '" + std::string(assignment) +
                     "' is no override: write key=value, +key=value or ~key");
  Value value = parse(assignment.substr(equals + 1), "command line");
  place(value, "command line: " + std::string(assignment));
  return {std::string(assignment.substr(0, equals)), std::move(value)};
}

void remove(Value& root, const std::string& path, const std::string& where) {
  const std::size_t dot = path.rfind('.');
  const bool top = dot == std::string::npos;
  auto* parent = top ? &root : const_cast<Value*>(get(root, path.substr(0, dot)));
  const std::string last = top ? path : path.substr(dot + 1);
  if (parent == nullptr || !get(*parent, last))
    throw InputError(where + ": there is no '" + path + "' to take away");
  if (Value* item = parent->type == Value::Type::LIST ? item_of(*parent, last) : nullptr) {
    parent->items.erase(parent->items.begin() + (item - parent->items.data()));
    return;
  }
  std::erase_if(parent->fields, [&](const auto& field) { return field.first == last; });
}

}  // namespace

void set(Value& root, std::string_view dotted, const Value& value) {
  Value* here = &root;
  for (const std::string& step : steps_of(dotted)) {
    if (here->type == Value::Type::LIST) {
      Value* item = item_of(*here, step);
      if (item == nullptr)
        value.refuse("cannot be set: '" + std::string(dotted) + "' needs an item '" + step +
                     "' of a list that has " + std::to_string(here->items.size()));
      here = item;
      continue;
    }
    if (here->type == Value::Type::SCALAR)
      value.refuse("cannot be set: '" + std::string(dotted) + "' needs a group of keys, but '" +
                   here->scalar + "' stands before '" + step + "' (" + here->where + ")");
    if (here->find(step) == nullptr) {
      Value fresh;
      fresh.where = value.where;
      here->put(step, std::move(fresh));
    }
    here = here->find(step);
  }
  const std::string key = here->key;
  *here = value;
  here->key = key;
}

const Value* get(const Value& root, std::string_view dotted) {
  const Value* here = &root;
  for (const std::string& step : steps_of(dotted)) {
    here = here->type == Value::Type::LIST ? item_of(*here, step) : here->find(step);
    if (here == nullptr) return nullptr;
  }
  return here;
}

void apply_override(Value& root, std::string_view assignment) {
  const std::string where = "command line: " + std::string(assignment);
  if (assignment.starts_with('~')) return remove(root, std::string(assignment.substr(1)), where);
  const bool adds = assignment.starts_with('+');
  Assignment wanted = split(adds ? assignment.substr(1) : assignment);
  if (adds && get(root, wanted.path) != nullptr)
    throw InputError(where + ": '" + wanted.path + "' is there already; set it without the '+'");
  if (wanted.value.type == Value::Type::NOTHING)
    throw InputError(where + ": no value; '~" + wanted.path + "' takes a key away");
  set(root, wanted.path, wanted.value);
}

Axis parse_axis(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  std::string list(assignment);
  if (equals != std::string::npos)
    list = list.substr(0, equals + 1) + "[" + list.substr(equals + 1) + "]";
  Assignment wanted = split(list);
  if (wanted.value.type != Value::Type::LIST || wanted.value.items.empty())
    throw InputError("command line: -m " + std::string(assignment) +
                     ": no values; write -m key=first,second");
  for (Value& value : wanted.value.items) {
    place(value, "command line: -m " + std::string(assignment));
    value.key = wanted.value.key;
  }
  return {wanted.path, std::move(wanted.value.items)};
}

}  // namespace redline::config
