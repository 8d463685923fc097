// SPDX-License-Identifier: Apache-2.0
// `redline bench forward`: the cost curve T(rows) of one model: the median time of a forward of so
// many new rows behind a context.
#pragma once
#include <vector>

#include "redline/loaded_model.hpp"

namespace redline::tool {

struct BenchForwardOptions {
  ModelOptions model;
  std::vector<int> rows = {1, 2, 4, 6, 8, 16};
  int context = 512;  // committed tokens before the rows
  int repeats = 15;
  bool json = false;
};
int bench_forward(const BenchForwardOptions& options);

}  // namespace redline::tool
