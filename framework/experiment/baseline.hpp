// SPDX-License-Identifier: Apache-2.0
// The plain cell each cell is measured against: same model, sampler, engine, data, limits, seed and
// trace; nothing drafted. Made where the matrix has none.
#pragma once
#include <vector>

#include "experiment/cell.hpp"

namespace redline::experiment {

// Every cell gets its baseline's name; baselines come before the cells measured against them.
std::vector<Cell> with_baselines(std::vector<Cell> cells, const Effective& effective);

// Must this cell's outputs equal its baseline's, token for token? At temperature 0 always; when
// sampling, where one noise decides both: sample-and-compare, and the Gumbel race.
bool outputs_equal_baseline(const Cell& cell);

}  // namespace redline::experiment
