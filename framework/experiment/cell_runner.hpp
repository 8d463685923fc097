// SPDX-License-Identifier: Apache-2.0
// Runs one cell of a run to its end, or goes on where an earlier attempt was cut off: what stands
// in requests.jsonl is kept, the rest is run. Every attempt writes a trace file of its own.
#pragma once
#include <filesystem>
#include <string>

namespace redline::experiment {

inline constexpr int kInterrupted = 130;  // exit code after Ctrl-C or SIGTERM, as a shell's

struct CellOptions {
  std::filesystem::path folder;  // of the run; of the cell itself when `cell` is ""
  std::string cell;              // name or NAME-HASH
  int parent = 0;                // the process whose end is ours too; 0: none
};

// 0, or kInterrupted with every finished request safe. Whatever goes wrong is written to FAILED
// and thrown on.
int run_cell(const CellOptions& options);

}  // namespace redline::experiment
