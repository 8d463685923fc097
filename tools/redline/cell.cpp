// SPDX-License-Identifier: Apache-2.0
#include "redline/cell.hpp"

#include "experiment/cell_runner.hpp"

namespace redline::tool {

int cell(const CellOptions& options) {
  return experiment::run_cell({options.folder, options.cell, options.parent});
}

}  // namespace redline::tool
