// SPDX-License-Identifier: Apache-2.0
// From a config to the documents of its cells: each cell of the matrix laid over the base, times
// the sweeps, times the seeds.
#pragma once
#include <string>
#include <vector>

#include "experiment/plan.hpp"

namespace redline::experiment {

struct Expansion {
  std::vector<config::Value> cells;  // each with its name and seed, otherwise a plain config
  std::vector<std::string> notes;
};
Expansion expand(const Source& source, const std::vector<std::string>& sweeps);

}  // namespace redline::experiment
