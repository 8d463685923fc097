// SPDX-License-Identifier: Apache-2.0
#include "experiment/data_set.hpp"

#include <charconv>
#include <fstream>
#include <map>

namespace redline::experiment {
namespace {

using config::Value;

// FNV-1a, 64 bits: a text id must give the same question number on every machine and for ever.
std::uint64_t question_of(const std::string& id) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error == std::errc() && end == id.data() + id.size()) return number;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const unsigned char c : id) hash = (hash ^ c) * 0x100000001b3U;
  return hash;
}

std::vector<text::Message> read_messages(const Value& list) {
  std::vector<text::Message> messages;
  for (const Value& entry : list.list()) {
    text::Message m{entry.at("role").text(), entry.at("content").text()};
    const bool known = m.role == "user" || m.role == "assistant" || m.role == "system";
    if (!known) entry.refuse("has the role '" + m.role + "'; roles are system, user, assistant");
    if (m.role == "system" && !messages.empty())
      entry.refuse("has a system message that is not the first");
    messages.push_back(std::move(m));
  }
  if (messages.empty() || messages.back().role != "user")
    list.refuse("must end with a user's message");
  return messages;
}

Item read_item(const Value& row) {
  if (row.type != Value::Type::MAP) row.refuse("a line of a data set is a JSON object");
  Item item;
  item.where = row.where;
  item.id = row.at("id").text();
  if (item.id.empty()) row.refuse("has an empty id");
  item.question = question_of(item.id);
  if (const Value* category = row.find("category")) item.category = category->text();
  const Value* messages = row.find("messages");
  const Value* prompt = row.find("prompt");
  if ((messages != nullptr) == (prompt != nullptr))
    row.refuse("needs either 'messages' (a list of role and content) or 'prompt' (a text)");
  if (messages) item.messages = read_messages(*messages);
  if (prompt) item.prompt = prompt->text();
  if (prompt && item.prompt.empty()) row.refuse("has an empty prompt");
  if (const Value* reference = row.find("reference");
      reference && reference->type == Value::Type::MAP && !reference->fields.empty())
    item.reference = config::to_json(*reference);
  return item;
}

}  // namespace

std::vector<Item> load_data_set(const DataSetChoice& choice) {
  std::ifstream in(choice.path, std::ios::binary);
  if (!in || !std::filesystem::is_regular_file(choice.path))
    throw InputError("data set " + choice.path.string() + ": no such file");
  const std::string file = choice.path.filename().string();
  std::vector<Item> items;
  std::map<std::uint64_t, std::string> seen;  // question to its place
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = file + ":" + std::to_string(number);
    Item item = read_item(config::parse_json(line, where));
    item.data_set = choice.name;
    if (choice.score.empty()) item.reference.clear();
    if (!choice.score.empty() && item.reference.empty())
      throw InputError(where +
                       ": has no 'reference', an object with the fields that the data set's "
                       "'score: " +
                       choice.score + "' compares");
    const auto [first, fresh] = seen.emplace(item.question, where);
    if (!fresh)
      throw InputError(where + ": the id '" + item.id + "' stands already at " + first->second);
    items.push_back(std::move(item));
  }
  const auto count = static_cast<std::int64_t>(items.size());
  if (choice.offset >= count)
    throw InputError("data set " + file + ": holds " + std::to_string(count) +
                     " items, none is left after offset " + std::to_string(choice.offset));
  items.erase(items.begin(), items.begin() + choice.offset);
  if (choice.limit && choice.limit < count - choice.offset) items.resize(choice.limit);
  return items;
}

std::vector<Item> load_items(const std::vector<DataSetChoice>& choices) {
  std::vector<Item> all;
  std::map<std::pair<std::string, std::uint64_t>, std::string> seen;
  for (const DataSetChoice& choice : choices) {
    for (Item& item : load_data_set(choice)) {
      const auto [first, fresh] = seen.emplace(std::pair(item.data_set, item.question), item.where);
      if (!fresh)
        throw InputError(item.where + ": item '" + item.id + "' of data set '" + item.data_set +
                         "' is taken twice, first from " + first->second +
                         "; give one of the sets another name");
      all.push_back(std::move(item));
    }
  }
  return all;
}

}  // namespace redline::experiment
