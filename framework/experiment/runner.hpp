// SPDX-License-Identifier: Apache-2.0
// A run from its config to its report: freezes all cells, then runs each as a process of its own.
// Loads no model.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace redline::experiment {

struct Shard {
  int index = 0, count = 1;  // every count-th cell, from the index-th on
};
Shard parse_shard(const std::string& text);  // "2/8": the second of eight; InputError

struct RunOptions {
  std::filesystem::path config;  // "" with resume
  std::vector<std::string> overrides, sweeps, argv;
  std::vector<std::filesystem::path> plugins;  // files named on the command line
  std::filesystem::path out, resume;           // out "": runs/NAME-TIME
  Shard shard;
  bool dry_run = false, json = false;
};

// 0: all done and every check passed. 1: a cell failed or a check did. What failed cells agree on
// (2 input, 3 plugin, 4 device) otherwise; kInterrupted after Ctrl-C.
int run_experiment(const RunOptions& options);

}  // namespace redline::experiment
