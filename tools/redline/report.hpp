// SPDX-License-Identifier: Apache-2.0
// `redline report`: the results of finished runs as a table.
#pragma once
#include <string>
#include <vector>

namespace redline::tool {

struct ReportOptions {
  std::vector<std::string> folders, compare;
  bool json = false, markdown = false;
};
int report(const ReportOptions& options);

}  // namespace redline::tool
