// SPDX-License-Identifier: Apache-2.0
// The only file that sees yaml-cpp. Values are built from its events, not from its nodes: yaml-cpp
// 0.7 takes duplicate keys, reads 012 as 10 and expands aliases without limit.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "config/value.hpp"

namespace redline::config {
namespace {

constexpr std::size_t kMostValues = 100'000;  // an alias bomb is far above, a real file far below

bool leading_zero(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return text.size() > 1 && text[0] == '0' && digit(text[1]) &&
         std::ranges::all_of(text, [&](char c) { return digit(c) || c == '.' || c == '_'; });
}

bool nothing(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::size_t count_values(const Value& value) {
  std::size_t count = 1;
  for (const Value& item : value.items) count += count_values(item);
  for (const auto& field : value.fields) count += count_values(field.second);
  return count;
}

class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(std::string_view name) : name_(name) {}
  Value take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(at(mark), anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(mark, "an alias stands inside the value it names");
    grow(count_values(found->second), mark);
    add(found->second, 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Value value = at(mark);
    value.quoted = tag == "!";
    if (!value.quoted && leading_zero(text))
      refuse(mark, "'" + text +
                       "' starts with a zero, which some read as octal: write it without, "
                       "or quote it");
    if (value.quoted || !nothing(text)) {
      value.type = Value::Type::SCALAR;
      value.scalar = text;
    }
    add(std::move(value), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, Value::Type::LIST, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, Value::Type::MAP, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Value value;
    std::optional<std::string> key;  // of the field whose value comes next
    YAML::anchor_t anchor;
  };

  std::string place(const YAML::Mark& mark) const {
    return name_ + ":" + std::to_string(mark.line + 1);
  }
  [[noreturn]] void refuse(const YAML::Mark& mark, const std::string& problem) const {
    throw InputError(place(mark) + ": " + problem);
  }
  void grow(std::size_t values, const YAML::Mark& mark) {
    count_ += values;
    if (count_ > kMostValues)
      refuse(mark, "the document holds more than " + std::to_string(kMostValues) + " values");
  }
  Value at(const YAML::Mark& mark) {
    grow(1, mark);
    Value value;
    value.where = place(mark);
    return value;
  }
  void open(const YAML::Mark& mark, Value::Type type, YAML::anchor_t anchor) {
    Value value = at(mark);
    value.type = type;
    if (!open_.empty() && open_.back().value.type == Value::Type::MAP && !open_.back().key)
      refuse(mark, "a key must be a plain text");
    open_.push_back({std::move(value), std::nullopt, anchor});
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.value), done.anchor);
  }
  void add(Value value, YAML::anchor_t anchor) {
    if (anchor) anchors_[anchor] = value;
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    Open& parent = open_.back();
    if (parent.value.type == Value::Type::LIST) {
      value.key = parent.value.key;
      parent.value.items.push_back(std::move(value));
    } else if (!parent.key) {
      start_field(parent, value);
    } else {
      value.key = *parent.key;
      parent.value.fields.emplace_back(*parent.key, std::move(value));
      parent.key.reset();
    }
  }
  static void start_field(Open& map, const Value& key) {
    if (key.type != Value::Type::SCALAR) throw InputError(key.where + ": a key must be a text");
    if (const Value* first = map.value.find(key.scalar))
      throw InputError(key.where + ": the key '" + key.scalar +
                       "' stands here a second time; the " + "first is at " + first->where +
                       ": keep one");
    map.key = key.scalar;
  }

  std::string name_;
  Value root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Value> anchors_;
  std::size_t count_ = 0;
};

}  // namespace

Value parse(std::string_view yaml, std::string_view name) {
  try {
    std::istringstream in{std::string(yaml)};
    YAML::Parser parser(in);
    Builder builder(name);
    parser.HandleNextDocument(builder);
    Value root = builder.take();
    if (Builder second(name); parser.HandleNextDocument(second))
      throw InputError(std::string(name) + ": holds more than one document; keep one");
    return root;
  } catch (const YAML::Exception& e) {
    throw InputError(std::string(name) + ":" + std::to_string(e.mark.line + 1) + ": " + e.msg);
  }
}

Value load(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMostBytes = 64 << 20;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(file, error);
  std::ifstream in(file, std::ios::binary);
  if (error || !in) throw InputError(file.string() + ": no such file, or not one that can be read");
  if (bytes > kMostBytes)
    throw InputError(file.string() + ": holds " + std::to_string(bytes) +
                     " bytes; a config may hold " + std::to_string(kMostBytes));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return parse(text, file.filename().string());
}

}  // namespace redline::config
