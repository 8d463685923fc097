// SPDX-License-Identifier: Apache-2.0
#include "experiment/pairs.hpp"

#include <algorithm>
#include <set>

namespace redline::experiment {
namespace {

using config::Value;

// All that decides which requests a cell has.
std::string requests_of(const Cell& cell) {
  std::string text = "seed " + std::to_string(cell.seed);
  for (const DataSetChoice& d : cell.data)
    text += ", " + d.name + " from " + std::to_string(d.offset) +
            (d.limit ? ", " + std::to_string(d.limit) + " items" : "");
  return text;
}

std::set<std::string> requests_of(const std::vector<const Cell*>& pool) {
  std::set<std::string> all;
  for (const Cell* cell : pool) all.insert(requests_of(*cell));
  return all;
}

std::string told(const std::set<std::string>& requests) {
  std::string text;
  for (const std::string& each : requests) text += (text.empty() ? "" : "; ") + each;
  return text;
}

std::string named(const Value& value, const std::vector<Cell>& cells) {
  const std::string name = value.text();
  if (!pool_of(cells, name).empty()) return name;
  std::vector<std::string> known;
  for (const Cell& cell : cells) {
    const std::string pool = pool_name(cell);
    if (std::ranges::find(known, pool) == known.end()) known.push_back(pool);
  }
  std::string all;
  for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
  const std::string near = config::nearest(name, known);
  value.refuse("names no cell: there is no '" + name + "'" +
               (near.empty() ? "" : "; did you mean '" + near + "'?") + " (cells: " + all + ")");
}

Pair read_pair(const Value& entry, const std::vector<Cell>& cells) {
  if (entry.type != Value::Type::MAP) entry.refuse("must be {of: CELL, to: CELL}");
  entry.only({"of", "to"}, "compare");
  const Pair pair{named(entry.at("of"), cells), named(entry.at("to"), cells)};
  if (pair.of == pair.to) entry.at("to").refuse("is the cell itself");
  const auto mine = requests_of(pool_of(cells, pair.of)),
             theirs = requests_of(pool_of(cells, pair.to));
  if (mine != theirs)
    entry.at("to").refuse("has other data or seeds (" + told(theirs) + ") than '" + pair.of +
                          "' (" + told(mine) + "): only the same requests can be compared");
  return pair;
}

}  // namespace

std::string pool_name(const Cell& cell) {
  const std::string tail = "-s" + std::to_string(cell.seed);
  return cell.name.ends_with(tail) ? cell.name.substr(0, cell.name.size() - tail.size())
                                   : cell.name;
}

std::vector<const Cell*> pool_of(const std::vector<Cell>& cells, std::string_view name) {
  std::vector<const Cell*> pool;
  for (const Cell& cell : cells) {
    if (cell.name == name) return {&cell};
    if (pool_name(cell) == name) pool.push_back(&cell);
  }
  return pool;
}

std::vector<Pair> read_pairs(const Value& list, const std::vector<Cell>& cells) {
  std::vector<Pair> pairs;
  for (const Value& entry : list.list()) pairs.push_back(read_pair(entry, cells));
  return pairs;
}

Pair parse_pair(std::string_view text, const std::vector<Cell>& cells) {
  const std::string where = "command line: --compare " + std::string(text);
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    throw InputError(where + ": write CELL:CELL, as in --compare block:token");
  Value entry = Value::map();
  entry.put("of", Value::of(text.substr(0, colon))).put("to", Value::of(text.substr(colon + 1)));
  for (auto& [key, value] : entry.fields) value.where = where;
  return read_pair(entry, cells);
}

Value to_value(const std::vector<Pair>& pairs) {
  Value list = Value::list_of({});
  for (const Pair& pair : pairs)
    list.items.push_back(Value::map().put("of", Value::of(pair.of)).put("to", Value::of(pair.to)));
  return list;
}

}  // namespace redline::experiment
