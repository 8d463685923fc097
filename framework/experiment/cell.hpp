// SPDX-License-Identifier: Apache-2.0
// One cell of an experiment: a strategy with all its settings, in force and frozen. The same
// schema reads the user's config and the frozen cell, so a cell is written as it would be typed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/value.hpp"
#include "engine/engine.hpp"

namespace redline::experiment {

struct DataSetChoice {
  std::filesystem::path path;
  std::string name;                    // the file's stem; part of every request's key
  std::int64_t offset = 0, limit = 0;  // of items; limit 0: all
  std::string sha256;                  // of the file, "" until frozen
  std::string score = {};              // how outputs are judged by their reference; "": not
};

struct Generate {
  std::int32_t max_tokens = 96, min_tokens = 0;
  std::vector<std::string> stop;
  bool ignore_eos = false;
  std::int32_t warmup = 1;  // requests run first and left out of every statistic
};

struct Cell {
  std::string name, baseline;  // baseline: the plain cell it is measured against, "" for one
  std::string chat_template;   // "": the model's own
  engine::Settings engine;
  std::string launcher;  // command that starts the cell's processes, "mpirun -n 8"; "": one process
  std::vector<DataSetChoice> data;
  Generate generate;
  std::uint64_t seed = 0;
  std::vector<std::filesystem::path> plugin_path;
  std::map<std::string, std::string> named_at;  // plugin to file:line, for errors; not frozen
};

// Reads one cell: every group checked, unknown keys and unsupported values refused by name with
// file:line. Relative paths start at `folder`, or at the working directory when given on the
// command line. Keys of the whole experiment (redline, name, matrix, seeds) are the plan's.
Cell read_cell(const config::Value& root, const std::filesystem::path& folder);
config::Value to_value(const Cell& cell);
std::vector<std::filesystem::path> read_paths(const config::Value& list,
                                              const std::filesystem::path& folder);

// What a plugin's parameters are in force, defaults included (plugin::Registry::effective).
using Effective = std::function<std::vector<plugin::Parameter>(Kind, const std::string& name,
                                                               const plugin::Arguments&)>;
void write_out_parameters(Cell& cell, const Effective& effective);

bool is_plain(const Cell& cell);   // drafts nothing
bool is_greedy(const Cell& cell);  // a link of its sampler has temperature 0

// Over all that decides the result, and nothing of where files lie. 64 hex digits.
std::string hash_of(const Cell& cell);
std::string folder_of(const Cell& cell);  // NAME-HASH, the hash cut to 8 digits
// What a baseline must share with a cell: all but draft, accept, length and the name.
std::string settings_of(const Cell& cell);

std::string_view name_of(trace::Level level);

}  // namespace redline::experiment
