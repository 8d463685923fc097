// SPDX-License-Identifier: Apache-2.0
#include "experiment/runner.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>

#include "experiment/cell_runner.hpp"
#include "experiment/child.hpp"
#include "experiment/data_set.hpp"
#include "experiment/dry_run.hpp"
#include "experiment/progress.hpp"
#include "experiment/provenance.hpp"
#include "experiment/report.hpp"
#include "experiment/run_folder.hpp"
#include "log/log.hpp"

namespace redline::experiment {
namespace {

namespace fs = std::filesystem;

struct Frozen {
  Source source;
  plugin::Registry registry;
  Plan plan;
};

Frozen freeze(const RunOptions& options) {
  Source source = read_source(options.config, options.overrides);
  std::vector<fs::path> files = options.plugins, folders;
  for (const fs::path& path : plugin_path_of(source))
    (fs::is_directory(path) ? folders : files).push_back(path);
  plugin::Registry registry(files, folders);
  const Effective effective = [&](Kind kind, const std::string& name,
                                  const plugin::Arguments& arguments) {
    return registry.effective(kind, name, arguments);
  };
  Plan plan = make_plan(source, options.sweeps, effective);
  for (Cell& cell : plan.cells)
    for (const fs::path& file : options.plugins) cell.plugin_path.push_back(fs::absolute(file));
  for (const std::string& warning : registry.warnings()) plan.notes.push_back(warning);
  return {std::move(source), std::move(registry), std::move(plan)};
}

std::vector<std::string> lines_of(const RunOptions& options) {
  std::vector<std::string> lines = options.overrides;
  for (const std::string& sweep : options.sweeps) lines.push_back("-m " + sweep);
  return lines;
}

RunFolder begin(const RunOptions& options) {
  if (!options.resume.empty()) return RunFolder::open(options.resume);
  const Frozen frozen = freeze(options);
  for (const std::string& note : frozen.plan.notes)
    std::fprintf(stderr, "note: %s\n", note.c_str());
  const fs::path root = options.out.empty() ? fresh_run_folder(frozen.plan.name) : options.out;
  return RunFolder::create(root, frozen.plan, read_whole(options.config), lines_of(options),
                           provenance_of(frozen.plan, frozen.registry, options.argv),
                           options.shard.count > 1);
}

void say(const std::string& line) { Narrator().say(line); }

// A crash leaves no word of its own: the parent writes FAILED.
ChildEnd run_in_child(const RunFolder& run, const Cell& cell) {
  std::vector<std::string> arguments{"cell", run.root().string(), "--cell", folder_of(cell)};
  if (cell.launcher.empty())  // else its parent is the launcher
    arguments.insert(arguments.end(), {"--parent", std::to_string(::getpid())});
  ChildEnd end = run_self(arguments, cell.launcher);
  if (end.interrupted || end.exit_code == kInterrupted) {
    end.interrupted = true;
    return end;
  }
  if (end.exit_code != 0 && run.state(cell) != CellState::FAILED) run.mark_failed(cell, end.text());
  if (end.exit_code != 0) say("cell " + cell.name + " FAILED (" + end.text() + ")");
  return end;
}

struct Outcome {
  std::set<int> failures;  // exit codes of the cells that failed
  bool interrupted = false;
};

Outcome run_cells(const RunFolder& run, const Shard& shard) {
  Outcome outcome;
  const std::vector<Cell>& cells = run.plan().cells;
  for (std::size_t i = shard.index; i < cells.size(); i += shard.count) {
    if (run.state(cells[i]) == CellState::DONE) continue;
    say("cell " + std::to_string(i + 1) + "/" + std::to_string(cells.size()) + ": " +
        cells[i].name);
    const ChildEnd end = run_in_child(run, cells[i]);
    if (end.interrupted) {
      outcome.interrupted = true;
      break;
    }
    if (end.exit_code != 0) outcome.failures.insert(end.signal ? 1 : end.exit_code);
  }
  return outcome;
}

int report_on(const RunFolder& run, bool json) {
  const fs::path root = run.root();
  const Report report(std::span(&root, 1));
  write_whole(root / "report.txt", report.text());
  write_whole(root / "report.json", config::to_pretty_json(report.json()));
  if (json) {
    std::fputs(config::to_pretty_json(report.json()).c_str(), stdout);
  } else {
    std::printf(
        "\n%s\nrun folder  %s\ntable       report.txt, report.json\nper cell    "
        "cells/*/{trace-*.h5, requests.jsonl, summary.json}\n",
        report.text().c_str(), root.c_str());
  }
  return report.clean() ? 0 : 1;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard.index);
  const bool slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
  const auto second = slash ? std::from_chars(first.ptr + 1, end, shard.count) : first;
  if (!slash || second.ec != std::errc() || second.ptr != end || shard.count < 1 ||
      shard.index < 1 || shard.index > shard.count)
    throw InputError("--shard " + text + ": write i/n with i from 1 to n, as in --shard 2/8");
  --shard.index;
  return shard;
}

int run_experiment(const RunOptions& options) {
  if (options.dry_run) {
    const Frozen frozen = freeze(options);
    std::fputs(dry_run_text(frozen.plan, options.json).c_str(), stdout);
    return 0;
  }
  const RunFolder run = begin(options);
  logging::open_file(run.root() / "run.log");
  say("run folder: " + run.root().string());
  const Outcome outcome = run_cells(run, options.shard);
  if (outcome.interrupted) {
    say("interrupted; redline run --resume " + run.root().string() + " goes on");
    return kInterrupted;
  }
  const int checked = report_on(run, options.json);
  // What a shard left to others is no failure of its own.
  if (options.shard.count > 1 && outcome.failures.empty()) return 0;
  return outcome.failures.size() == 1 ? *outcome.failures.begin() : checked;
}

}  // namespace redline::experiment
