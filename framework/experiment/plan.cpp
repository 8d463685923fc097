// SPDX-License-Identifier: Apache-2.0
#include "experiment/plan.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "experiment/baseline.hpp"
#include "experiment/data_set.hpp"
#include "experiment/matrix.hpp"
#include "files/sha256.hpp"

namespace redline::experiment {
namespace {

using config::Value;

void check_name(const Cell& cell, std::set<std::string>& names) {
  const bool fit = !cell.name.empty() && std::ranges::all_of(cell.name, [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (!fit || cell.name.starts_with('.'))
    throw InputError("the cell name '" + cell.name +
                     "' must do as a folder's: letters, digits, '-', '_' and '.'");
  if (!names.insert(cell.name).second)
    throw InputError("two cells are named '" + cell.name + "'; give one another name");
}

// Reads each file once: the hash goes into the cell's identity, the items are checked up front.
class DataFreezer {
 public:
  void freeze(Cell& cell) {
    for (DataSetChoice& choice : cell.data) {
      auto [entry, fresh] = hashes_.try_emplace(choice.path);
      if (fresh) {
        load_data_set(choice);
        entry->second = files::sha256_file(choice.path);
      }
      choice.sha256 = entry->second;
    }
    load_items(cell.data);
  }

 private:
  std::map<std::filesystem::path, std::string> hashes_;
};

void note_equals(Plan& plan) {
  std::map<std::string, std::string> first;
  for (const Cell& cell : plan.cells) {
    const auto [entry, fresh] = first.emplace(hash_of(cell), cell.name);
    if (!fresh)
      plan.notes.push_back("cells '" + entry->second + "' and '" + cell.name +
                           "' are the same experiment");
  }
}

}  // namespace

Plan make_plan(const Source& source, const std::vector<std::string>& sweeps,
               const Effective& effective) {
  Plan plan;
  if (const Value* name = source.root.find("name")) plan.name = name->text();
  DataFreezer freezer;
  std::set<std::string> names;
  Expansion expansion = expand(source, sweeps);
  plan.notes = std::move(expansion.notes);
  for (const Value& root : expansion.cells) {
    Cell cell = read_cell(root, source.folder);
    write_out_parameters(cell, effective);
    freezer.freeze(cell);
    check_name(cell, names);
    plan.cells.push_back(std::move(cell));
  }
  plan.cells = with_baselines(std::move(plan.cells), effective);
  note_equals(plan);
  if (const Value* compare = source.root.find("compare"))
    plan.compare = read_pairs(*compare, plan.cells);
  return plan;
}

Value to_value(const Plan& plan) {
  Value root = Value::map(), cells = Value::list_of({}), notes = Value::list_of({});
  for (const Cell& cell : plan.cells) {
    Value entry = Value::map().put("folder", Value::of(folder_of(cell)));
    entry.put("hash", Value::of(hash_of(cell)));
    for (auto& [key, value] : to_value(cell).fields) entry.put(key, value);
    cells.items.push_back(std::move(entry));
  }
  for (const std::string& note : plan.notes) notes.items.push_back(Value::of(note));
  root.put("redline", Value::of(1)).put("name", Value::of(plan.name));
  if (!plan.compare.empty()) root.put("compare", to_value(plan.compare));
  return root.put("notes", std::move(notes)).put("cells", std::move(cells));
}

Plan read_plan(const std::filesystem::path& resolved_json) {
  std::ifstream in(resolved_json, std::ios::binary);
  if (!in) throw InputError(resolved_json.string() + ": no such file; a run's folder holds one");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const Value root = config::parse_json(text, resolved_json.string());
  Plan plan;
  plan.name = root.at("name").text();
  for (const Value& note : root.at("notes").list()) plan.notes.push_back(note.text());
  for (const Value& entry : root.at("cells").list()) {
    plan.cells.push_back(read_cell(entry, resolved_json.parent_path()));
    if (folder_of(plan.cells.back()) != entry.at("folder").text())
      throw InputError(resolved_json.string() + ": the cell '" + plan.cells.back().name +
                       "' now hashes to " + folder_of(plan.cells.back()) + " and was frozen as " +
                       entry.at("folder").text() +
                       ": it was edited, or another version of redline froze it; start a new run");
  }
  if (const Value* compare = root.find("compare")) plan.compare = read_pairs(*compare, plan.cells);
  return plan;
}

}  // namespace redline::experiment
