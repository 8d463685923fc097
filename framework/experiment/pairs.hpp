// SPDX-License-Identifier: Apache-2.0
// Which strategies an experiment compares: `compare: [{of: block, to: token}]`. A name stands for
// its cells of all seeds.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "experiment/cell.hpp"

namespace redline::experiment {

struct Pair {
  std::string of, to;
};

std::string pool_name(const Cell& cell);  // its name without the mark of its seed
// The cells of a name, one a seed: "block", or "block-s1" and "block-s2". Empty: there is none.
std::vector<const Cell*> pool_of(const std::vector<Cell>& cells, std::string_view name);

// InputError at the value: no such cell (with the nearest name), or the two have not the same data
// and seeds.
std::vector<Pair> read_pairs(const config::Value& list, const std::vector<Cell>& cells);
Pair parse_pair(std::string_view text, const std::vector<Cell>& cells);  // "block:token"
config::Value to_value(const std::vector<Pair>& pairs);

}  // namespace redline::experiment
