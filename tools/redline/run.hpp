// SPDX-License-Identifier: Apache-2.0
// `redline run`: an experiment, from its config to its table.
#pragma once
#include <string>
#include <vector>

namespace redline::tool {

struct RunOptions {
  std::string config, out, resume, shard;
  std::vector<std::string> overrides, sweeps, plugins;
  std::vector<std::string> argv;  // as the user typed it, for the provenance
  bool dry_run = false, json = false;
};
int run(const RunOptions& options);

}  // namespace redline::tool
