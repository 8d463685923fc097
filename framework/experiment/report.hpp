// SPDX-License-Identifier: Apache-2.0
// The results of runs as one table, from their folders alone: no model is loaded. A speed-up stands
// only where cell and baseline agree in build, machine, settings, models and data.
#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/identical.hpp"
#include "experiment/run_folder.hpp"

namespace redline::experiment {

struct ReportRow {
  std::string run, cell, baseline;
  CellState state = CellState::WAITING;
  std::string failure;                // what FAILED says
  config::Value summary;              // nothing unless DONE
  std::optional<double> speedup;      // against the baseline's output_throughput
  std::string why_no_speedup;         // "" for a baseline itself
  std::optional<Comparison> outputs;  // where they are owed to equal the baseline's
};

class Report {
 public:
  explicit Report(std::span<const std::filesystem::path> runs);  // InputError: one holds no run

  const std::vector<ReportRow>& rows() const { return rows_; }
  bool clean() const;  // every cell done, no request failed, every owed output equal
  std::string text() const;
  std::string markdown() const;
  config::Value json() const;

 private:
  void add(const RunFolder& run);
  std::vector<std::string> remarks() const;
  std::vector<ReportRow> rows_;
};

}  // namespace redline::experiment
