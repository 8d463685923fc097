// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

namespace redline::experiment {
namespace {

namespace fs = std::filesystem;

std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, format, &parts);
  return text;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error("cannot make the folder " + folder.string() + ": " + error.message() +
                "; give another with --out");
}

}  // namespace

RunFolder::RunFolder(fs::path root, Plan plan) : root_(std::move(root)), plan_(std::move(plan)) {}

RunFolder RunFolder::open(const fs::path& root) {
  const fs::path absolute = fs::absolute(root).lexically_normal();
  return {absolute, read_plan(absolute / "config.resolved.json")};
}

RunFolder RunFolder::create(const fs::path& given, const Plan& plan, const std::string& config_yaml,
                            const std::vector<std::string>& overrides,
                            const config::Value& provenance, bool join) {
  const fs::path root = fs::absolute(given).lexically_normal();
  const std::string resolved = config::to_pretty_json(to_value(plan));
  // Built beside its place and renamed: of several shards that begin at once, one makes the folder.
  const fs::path fresh = root.string() + ".new-" + std::to_string(::getpid());
  make_folder(fresh / "cells");
  for (const Cell& cell : plan.cells) make_folder(fresh / "cells" / folder_of(cell));
  std::string lines;
  for (const std::string& override : overrides) lines += override + "\n";
  write_whole(fresh / "config.yaml", config_yaml);
  write_whole(fresh / "config.resolved.json", resolved);
  write_whole(fresh / "overrides.txt", lines);
  write_whole(fresh / "provenance.json", config::to_pretty_json(provenance));
  std::error_code error;
  fs::rename(fresh, root, error);
  if (!error) return {root, plan};
  fs::remove_all(fresh);
  if (!join)
    throw InputError("the folder " + root.string() +
                     " is there already; --resume continues a run, --out names another folder");
  if (read_whole(root / "config.resolved.json") != resolved)
    throw InputError("the folder " + root.string() +
                     " holds another experiment; shards of one run share config and overrides");
  return {root, plan};
}

const Cell& RunFolder::cell(std::string_view name) const {
  std::string known;
  for (const Cell& cell : plan_.cells) {
    if (cell.name == name || folder_of(cell) == name) return cell;
    known += (known.empty() ? "" : ", ") + cell.name;
  }
  throw InputError("the run " + root_.string() + " has no cell '" + std::string(name) +
                   "'; it has " + known);
}

std::string RunFolder::text(std::string_view file) const { return read_whole(root_ / file); }

CellState RunFolder::state(const Cell& cell) const {
  const fs::path folder = of(cell);
  if (fs::exists(folder / "DONE")) return CellState::DONE;
  if (fs::exists(folder / "FAILED")) return CellState::FAILED;
  return fs::exists(folder / "requests.jsonl") ? CellState::BEGUN : CellState::WAITING;
}

void RunFolder::mark_done(const Cell& cell) const {
  write_whole(of(cell) / "DONE", utc_now() + "\n");
}
void RunFolder::mark_failed(const Cell& cell, std::string_view reason) const {
  write_whole(of(cell) / "FAILED", std::string(reason) + "\n");
}
void RunFolder::clear_failure(const Cell& cell) const { fs::remove(of(cell) / "FAILED"); }

std::string RunFolder::failure(const Cell& cell) const {
  const std::string text = read_whole(of(cell) / "FAILED");
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

fs::path fresh_run_folder(const std::string& name) {
  return fs::path("runs") / ((name.empty() ? "run" : name) + "-" + utc("%Y%m%dT%H%M%SZ"));
}

std::string utc_now() { return utc("%Y-%m-%dT%H:%M:%SZ"); }

std::string read_whole(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_whole(const fs::path& file, std::string_view text) {
  const fs::path fresh = file.string() + ".new";
  std::ofstream out(fresh, std::ios::binary);
  out << text;
  out.close();
  std::error_code error;
  if (out) fs::rename(fresh, file, error);
  if (!out || error) throw Error(file.string() + ": cannot be written; is the disk full?");
}

}  // namespace redline::experiment
