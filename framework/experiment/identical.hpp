// SPDX-License-Identifier: Apache-2.0
// Are the outputs of a cell its baseline's, token for token? If not: where each first differs, and
// how near the target was to a tie there.
#pragma once
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "experiment/request_log.hpp"

namespace redline::experiment {

struct Divergence {
  std::string request;    // "finance_json/fin-003"
  std::size_t index = 0;  // of the first output token that differs
  double margin = std::numeric_limits<double>::quiet_NaN();           // logit gap, this cell
  double baseline_margin = std::numeric_limits<double>::quiet_NaN();  // and the baseline
};
struct Comparison {
  std::size_t compared = 0, same = 0;
  std::vector<Divergence> divergences;
};

// Pairs requests by key; warm-up, failed and unpaired ones are left out.
Comparison compare_outputs(std::span<const Finished> cell, std::span<const Finished> baseline);

}  // namespace redline::experiment
