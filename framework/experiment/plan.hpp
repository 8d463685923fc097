// SPDX-License-Identifier: Apache-2.0
// An experiment as cells: base, matrix, sweeps and seeds multiplied out, one plain baseline for
// each cell's settings, all frozen before the first cell runs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "config/value.hpp"
#include "experiment/cell.hpp"
#include "experiment/pairs.hpp"
#include "experiment/source.hpp"

namespace redline::experiment {

struct Plan {
  std::string name;
  std::vector<Cell> cells;         // a baseline stands before the cells measured against it
  std::vector<Pair> compare;       // which of them the report holds against each other
  std::vector<std::string> notes;  // what the user should know before it runs
};

// `sweeps`: "a.b=1,2", multiplied out. Data sets are read and hashed. InputError with file:line.
Plan make_plan(const Source& source, const std::vector<std::string>& sweeps,
               const Effective& effective);

config::Value to_value(const Plan& plan);  // config.resolved.json
Plan read_plan(const std::filesystem::path& resolved_json);

}  // namespace redline::experiment
