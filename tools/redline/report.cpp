// SPDX-License-Identifier: Apache-2.0
#include "redline/report.hpp"

#include <cstdio>
#include <filesystem>

#include "experiment/report.hpp"

namespace redline::tool {

int report(const ReportOptions& options) {
  const std::vector<std::filesystem::path> folders(options.folders.begin(), options.folders.end());
  const experiment::Report report(folders, options.compare);
  std::string out = report.text();
  if (options.markdown) out = report.markdown();
  if (options.json) out = config::to_pretty_json(report.json());
  std::fputs(out.c_str(), stdout);
  return 0;
}

}  // namespace redline::tool
