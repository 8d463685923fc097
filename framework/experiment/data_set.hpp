// SPDX-License-Identifier: Apache-2.0
// A data set: JSON lines, each with an id, a category, and messages (or a bare prompt).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "experiment/cell.hpp"
#include "text/chat_template.hpp"

namespace redline::experiment {

struct Item {
  std::string data_set, id, category, where;  // where: "finance_json.jsonl:7"
  std::uint64_t question = 0;                 // the id as a number, or a hash of its text
  std::vector<text::Message> messages;        // empty: `prompt` is given to the model as it is
  std::string prompt;
  std::string reference;  // the JSON object the answer is scored by; "": none
};

// Every line is read and checked, then offset and limit are applied. InputError with file:line:
// no JSON, a missing or unfit field, an id that stands twice, no item left.
std::vector<Item> load_data_set(const DataSetChoice& choice);
// Of all sets, in order. InputError: two items with the same set and id.
std::vector<Item> load_items(const std::vector<DataSetChoice>& choices);

}  // namespace redline::experiment
