// SPDX-License-Identifier: Apache-2.0
// `redline cell`: one cell of a run, in this process. `redline run` starts one for each.
#pragma once
#include <string>

namespace redline::tool {

struct CellOptions {
  std::string folder, cell;
  int parent = 0;
};
int cell(const CellOptions& options);

}  // namespace redline::tool
