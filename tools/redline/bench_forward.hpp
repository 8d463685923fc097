// SPDX-License-Identifier: Apache-2.0
// `redline bench forward`: the cost curve T(rows) of one model, the median time of a forward of so
// many new rows behind a context, beside the roofline of the machine.
#pragma once
#include <vector>

#include "redline/loaded_model.hpp"

namespace redline::tool {

struct BenchForwardOptions {
  ModelOptions model;
  std::vector<int> rows = {1, 2, 4, 6, 8, 16};
  std::vector<int> trees = {};  // rows of trees, timed in turn with the others
  int context = 512;            // committed tokens before the rows
  int repeats = 15;
  bool store = false;  // the default plan's times too, as the costs that runs read
  bool serve = false;  // times what standard input asks for, instead
  bool json = false;
};
int bench_forward(const BenchForwardOptions& options);

}  // namespace redline::tool
