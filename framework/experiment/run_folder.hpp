// SPDX-License-Identifier: Apache-2.0
// The folder of a run and of its cells: what lies where, and what state a cell is in. Outputs are
// complete or absent: files are written beside their place and renamed.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/plan.hpp"

namespace redline::experiment {

enum class CellState { WAITING, BEGUN, DONE, FAILED };

class RunFolder {
 public:
  // InputError: the folder holds no run.
  static RunFolder open(const std::filesystem::path& root);
  // A new folder with config.yaml, config.resolved.json, overrides.txt and provenance.json and a
  // folder a cell. One that exists is an InputError, unless `join` and it holds the same plan.
  static RunFolder create(const std::filesystem::path& root, const Plan& plan,
                          const std::string& config_yaml, const std::vector<std::string>& overrides,
                          const config::Value& provenance, bool join);

  const std::filesystem::path& root() const { return root_; }
  const Plan& plan() const { return plan_; }
  const Cell& cell(
      std::string_view name) const;  // by name or folder; InputError with the known ones
  std::filesystem::path of(const Cell& cell) const { return root_ / "cells" / folder_of(cell); }
  std::string text(std::string_view file) const;  // of a file of the run, "" when absent

  CellState state(const Cell& cell) const;
  void mark_done(const Cell& cell) const;
  void mark_failed(const Cell& cell, std::string_view reason) const;
  void clear_failure(const Cell& cell) const;
  std::string failure(const Cell& cell) const;

 private:
  RunFolder(std::filesystem::path root, Plan plan);
  std::filesystem::path root_;
  Plan plan_;
};

std::filesystem::path fresh_run_folder(const std::string& name);  // runs/NAME-20260131T120000Z
std::string utc_now();                                            // 2026-01-31T12:00:00Z
std::string read_whole(const std::filesystem::path& file);        // "" when absent
void write_whole(const std::filesystem::path& file, std::string_view text);  // Error

}  // namespace redline::experiment
