// SPDX-License-Identifier: Apache-2.0
#include "experiment/baseline.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace redline::experiment {
namespace {

using Key = std::pair<std::string, std::string>;  // settings, the plain rule

// Plain decoding by the noise the rule uses: the race decides by its own draws, all others may be
// compared with sampling. At temperature 0 there is no noise.
std::string plain_rule(const Cell& cell) {
  const bool race = cell.engine.accept.name == "accept_gumbel" && !is_greedy(cell);
  return race ? "accept_gumbel" : "accept_match";
}

bool is_baseline(const Cell& cell) {
  const std::string& rule = cell.engine.accept.name;
  return is_plain(cell) && (rule == "accept_match" || rule == plain_rule(cell));
}

std::string temperature_of(const Cell& cell) {
  for (const auto& link : cell.engine.sampler)
    for (const auto& argument : link.arguments)
      if (argument.name == "t" || argument.name == "temperature") return argument.value;
  return "1";
}

std::string free_name(const Cell& cell, const std::set<std::string>& taken, bool many_seeds) {
  std::string name = plain_rule(cell) == "accept_gumbel" ? "plain-gumbel" : "plain";
  if (!is_greedy(cell)) name += "-t" + temperature_of(cell);
  if (many_seeds) name += "-s" + std::to_string(cell.seed);
  std::string candidate = name;
  for (int n = 2; taken.contains(candidate); ++n) candidate = name + "-" + std::to_string(n);
  return candidate;
}

Cell plain_version(const Cell& cell, std::string name, const Effective& effective) {
  Cell plain = cell;
  plain.name = std::move(name);
  plain.baseline.clear();
  plain.engine.draft = {"draft_none", {}};
  plain.engine.accept = {plain_rule(cell), {}};
  plain.engine.length = engine::Settings{}.length;
  write_out_parameters(plain, effective);
  return plain;
}

std::vector<Cell> baselines_first(std::vector<Cell> cells) {
  std::vector<Cell> ordered;
  std::set<std::string> placed;
  const auto place = [&](const Cell& cell) {
    if (placed.insert(cell.name).second) ordered.push_back(cell);
  };
  for (const Cell& cell : cells) {
    const auto baseline = std::ranges::find(cells, cell.baseline, &Cell::name);
    if (!cell.baseline.empty() && baseline != cells.end()) place(*baseline);
    place(cell);
  }
  return ordered;
}

}  // namespace

std::vector<Cell> with_baselines(std::vector<Cell> cells, const Effective& effective) {
  std::map<Key, std::string> plain;
  std::set<std::string> taken;
  std::set<std::uint64_t> seeds;
  for (const Cell& cell : cells) {
    taken.insert(cell.name);
    seeds.insert(cell.seed);
    if (is_baseline(cell))
      plain.emplace(Key(settings_of(cell), cell.engine.accept.name), cell.name);
  }
  std::vector<Cell> made;
  for (Cell& cell : cells) {
    if (is_baseline(cell)) continue;
    const auto [entry, fresh] = plain.emplace(Key(settings_of(cell), plain_rule(cell)), "");
    if (fresh) {
      entry->second = free_name(cell, taken, seeds.size() > 1);
      taken.insert(entry->second);
      made.push_back(plain_version(cell, entry->second, effective));
    }
    cell.baseline = entry->second;
  }
  cells.insert(cells.end(), made.begin(), made.end());
  return baselines_first(std::move(cells));
}

bool outputs_equal_baseline(const Cell& cell) {
  if (cell.baseline.empty()) return false;
  const std::string& rule = cell.engine.accept.name;
  return is_greedy(cell) || rule == "accept_match" || rule == "accept_gumbel";
}

}  // namespace redline::experiment
