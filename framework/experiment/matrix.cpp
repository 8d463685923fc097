// SPDX-License-Identifier: Apache-2.0
#include "experiment/matrix.hpp"

#include <algorithm>
#include <iterator>

namespace redline::experiment {
namespace {

using config::Axis;
using config::Value;

std::string top_of(std::string_view path) { return std::string(path.substr(0, path.find('.'))); }

bool touches(std::string_view a, std::string_view b) {  // one is the other, or lies inside it
  const auto inside = [](std::string_view outer, std::string_view inner) {
    return inner == outer || (inner.starts_with(outer) && inner[outer.size()] == '.');
  };
  return inside(a, b) || inside(b, a);
}

// The paths a cell sets itself: the leaves of its map, whole where it names a plugin anew.
void own_paths(const Value& map, const std::string& prefix, std::vector<std::string>& paths) {
  for (const auto& [key, value] : map.fields) {
    const std::string path = prefix.empty() ? key : prefix + "." + key;
    const bool whole = is_plugin_group(key) && value.find("name");
    if (value.type == Value::Type::MAP && !value.fields.empty() && !whole) {
      own_paths(value, path, paths);
    } else {
      paths.push_back(path);
    }
  }
}

struct Draft {  // of a cell: what the matrix says of it
  std::string name;
  Value own;
  std::vector<std::string> paths;
  bool sets(std::string_view path) const {
    return std::ranges::any_of(paths, [&](const auto& p) { return touches(p, path); });
  }
};

std::vector<Draft> matrix_of(const Value& root) {
  const Value* matrix = root.find("matrix");
  const Value* name = root.find("name");
  if (matrix == nullptr) return {{name ? name->text() : "cell", Value::map(), {}}};
  if (matrix->type != Value::Type::MAP || matrix->fields.empty())
    matrix->refuse("must hold named cells, each a map of what differs from the base");
  std::vector<Draft> drafts;
  for (const auto& [cell_name, value] : matrix->fields) {
    Draft draft{cell_name, value.exists() ? value : Value::map(), {}};
    Value tops = Value::map();  // dotted keys are checked by their first step
    if (draft.own.type != Value::Type::MAP) draft.own.refuse("must be a map of overrides");
    for (const auto& [key, v] : draft.own.fields) {
      Value copy;
      copy.where = v.where;
      tops.put(top_of(key), std::move(copy));
    }
    tops.only({"model", "draft", "accept", "sampler", "length", "engine", "dataset", "generate",
               "trace", "parallel"},
              "matrix." + cell_name);
    name_plugins(draft.own);
    own_paths(draft.own, "", draft.paths);
    drafts.push_back(std::move(draft));
  }
  return drafts;
}

// "-m matrix.CELL.a.b=1,2" sweeps one cell, what it sets itself included.
struct Sweep {
  Axis axis;
  std::string only_cell;  // "": all
};

Sweep read_sweep(const std::string& assignment) {
  Sweep sweep{config::parse_axis(assignment), ""};
  std::string& path = sweep.axis.path;
  if (!path.starts_with("matrix.")) return sweep;
  const std::size_t dot = path.find('.', 7);
  if (dot == std::string::npos)
    throw InputError("command line: -m " + assignment + ": name a key, as in matrix.CELL.draft.k");
  sweep.only_cell = path.substr(7, dot - 7);
  path.erase(0, dot + 1);
  return sweep;
}

std::string label_of(const Axis& axis, std::size_t index) {
  std::string leaf = axis.path.substr(axis.path.rfind('.') + 1);
  const Value& value = axis.values[index];
  std::string text = value.type == Value::Type::SCALAR ? value.scalar : std::to_string(index);
  if (value.type == Value::Type::MAP && value.find("name")) text = value.at("name").text();
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_') c = '_';
  if (leaf == "name" || is_plugin_group(leaf)) leaf.clear();
  return "-" + leaf + text;
}

// Does the axis change this cell? What the cell sets itself stays; a plain cell has no drafts
// whose proposal, judging or length could differ.
bool reaches(const Sweep& sweep, const Draft& draft, const Value& laid) {
  const Axis& axis = sweep.axis;
  if (!sweep.only_cell.empty()) return sweep.only_cell == draft.name;
  if (draft.sets(axis.path)) return false;
  const Value* name = config::get(laid, "draft.name");
  const bool plain = name == nullptr || name->text() == "draft_none";
  const bool strategy = is_plugin_group(top_of(axis.path));
  return !plain || !strategy || axis.path == "draft" || axis.path == "draft.name";
}

Value laid_over(const Source& source, const Draft& draft) {
  Value cell = Value::map();
  for (const auto& [key, value] : source.root.fields)
    if (key != "matrix" && key != "seeds" && key != "redline" && key != "name" && key != "compare")
      cell.put(key, value);
  cell.where = source.root.where;
  lay_over(cell, draft.own);
  cell.put("name", Value::of(draft.name));
  return cell;
}

std::vector<std::uint64_t> seeds_of(const Value& root) {
  const Value* seeds = root.find("seeds");
  if (seeds == nullptr) return {0};
  std::vector<std::uint64_t> found;
  if (seeds->type != Value::Type::LIST) return {seeds->natural()};
  for (const Value& seed : seeds->items) found.push_back(seed.natural());
  if (found.empty()) seeds->refuse("holds no seed");
  return found;
}

// True when at least one cell was multiplied.
bool multiply(std::vector<Value>& cells, const Sweep& sweep, const Draft& draft) {
  const Axis& axis = sweep.axis;
  bool reached = false;
  std::vector<Value> product;
  for (const Value& cell : cells) {
    if (!reaches(sweep, draft, cell)) {
      product.push_back(cell);
      continue;
    }
    reached = true;
    for (std::size_t i = 0; i < axis.values.size(); ++i) {
      Value next = cell;
      config::set(next, axis.path, axis.values[i]);
      name_plugins(next);
      next.put("name", Value::of(cell.at("name").text() + label_of(axis, i)));
      product.push_back(std::move(next));
    }
  }
  cells = std::move(product);
  return reached;
}

void note_shadowed(const Source& source, const std::vector<Draft>& drafts, Expansion& out) {
  for (const std::string& assignment : source.overrides) {
    std::string path = assignment.substr(0, assignment.find('='));
    if (path.starts_with('+') || path.starts_with('~')) path.erase(0, 1);
    if (path.starts_with("matrix.")) continue;
    for (const Draft& draft : drafts)
      if (draft.sets(path))
        out.notes.push_back("'" + assignment + "' does not reach the cell '" + draft.name +
                            "', which sets this itself; 'matrix." + draft.name + "." + path +
                            "=...' does");
  }
}

}  // namespace

Expansion expand(const Source& source, const std::vector<std::string>& sweeps) {
  Expansion out;
  const std::vector<Draft> drafts = matrix_of(source.root);
  const std::vector<std::uint64_t> seeds = seeds_of(source.root);
  std::vector<Sweep> axes;
  for (const std::string& sweep : sweeps) axes.push_back(read_sweep(sweep));
  std::vector<char> reached(axes.size(), false);
  std::vector<Value> cells;
  for (const Draft& draft : drafts) {
    std::vector<Value> of_draft{laid_over(source, draft)};
    for (std::size_t i = 0; i < axes.size(); ++i) reached[i] |= multiply(of_draft, axes[i], draft);
    std::ranges::move(of_draft, std::back_inserter(cells));
  }
  for (const std::uint64_t seed : seeds)  // in turn, so that a machine's moods meet all cells alike
    for (Value cell : cells) {
      cell.put("seed", Value::of(seed));
      if (seeds.size() > 1)
        cell.put("name", Value::of(cell.at("name").text() + "-s" + std::to_string(seed)));
      out.cells.push_back(std::move(cell));
    }
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (!reached[i])
      throw InputError("command line: -m " + sweeps[i] +
                       " reaches no cell: each sets this itself, or drafts nothing");
  note_shadowed(source, drafts, out);
  return out;
}

}  // namespace redline::experiment
