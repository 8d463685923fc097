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
#include "experiment/paired.hpp"
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
  // `compare`: pairs "of:to" beside those of the runs' configs. InputError: a folder holds no run,
  // or has not these cells.
  explicit Report(std::span<const std::filesystem::path> runs,
                  std::span<const std::string> compare = {});

  const std::vector<ReportRow>& rows() const { return rows_; }
  const std::vector<PairedRow>& paired() const { return paired_; }
  const std::vector<ForetoldRow>& foretold() const { return foretold_; }
  bool clean() const;  // every cell done, no request failed, every owed output equal
  std::string text() const;
  std::string markdown() const;
  config::Value json() const;

 private:
  void add(const RunFolder& run);
  void pair_up(const RunFolder& run, std::span<const std::string> compare);
  void foretell(const RunFolder& run);
  std::vector<std::string> remarks() const;
  std::vector<ReportRow> rows_;
  std::vector<PairedRow> paired_;
  std::vector<ForetoldRow> foretold_;
};

}  // namespace redline::experiment
