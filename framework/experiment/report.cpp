// SPDX-License-Identifier: Apache-2.0
#include "experiment/report.hpp"

#include <algorithm>
#include <cmath>

#include "experiment/baseline.hpp"
#include "experiment/table.hpp"

namespace redline::experiment {
namespace {

using config::Value;
namespace fs = std::filesystem;

std::optional<double> number(const Value& root, std::string_view path) {
  const Value* value = config::get(root, path);
  if (value == nullptr || !value->exists()) return std::nullopt;
  return value->number(-1e300, 1e300);
}

Value summary_in(const fs::path& folder) {
  return config::parse_json(read_whole(folder / "summary.json"),
                            (folder / "summary.json").string());
}

// The first fact in which two summaries differ that must not, or "".
std::string disagreement(const Value& mine, const Value& theirs) {
  const Value& a = mine.at("identity");
  const Value& b = theirs.at("identity");
  for (const auto& [key, value] : a.fields)
    if (config::to_json(value) != config::to_json(b.at(key))) return key;
  return "";
}

void compare_with_baseline(const RunFolder& run, const Cell& cell, ReportRow& row) {
  const Cell& baseline = run.cell(cell.baseline);
  if (row.state != CellState::DONE || run.state(baseline) != CellState::DONE) {
    row.why_no_speedup = "its baseline '" + cell.baseline + "' is not done";
    return;
  }
  const Value plain = summary_in(run.of(baseline));
  if (const std::string key = disagreement(row.summary, plain); !key.empty()) {
    row.why_no_speedup = "it and its baseline '" + cell.baseline + "' differ in " + key;
  } else if (const auto mine = number(row.summary, "output_throughput"),
             theirs = number(plain, "output_throughput");
             mine && theirs && *theirs > 0) {
    row.speedup = *mine / *theirs;
  }
  if (outputs_equal_baseline(cell))
    row.outputs = compare_outputs(read_requests(run.of(cell) / "requests.jsonl"),
                                  read_requests(run.of(baseline) / "requests.jsonl"));
}

std::string shown(std::optional<double> value, int decimals) {
  if (!value || !std::isfinite(*value)) return "-";
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, *value);
  return text;
}
std::string percent(std::optional<double> share) {
  return share ? shown(*share * 100, 1) + " %" : "-";
}

std::vector<std::string> columns(bool with_score) {
  std::vector<std::string> names{
      "cell", "tokens/s", "speed-up", "accept length", "accept rate", "TTFT ms",  "token ms mean",
      "p50",  "p95",      "draft",    "target",        "verify",      "identical"};
  if (with_score) names.emplace_back("score");
  return names;
}

std::vector<std::string> cells_of(const ReportRow& row, bool with_run, bool with_score) {
  std::vector<std::string> out{with_run ? row.run + "/" + row.cell : row.cell};
  if (row.state != CellState::DONE) {
    out.push_back(row.state == CellState::FAILED ? "FAILED" : "not done");
    out.resize(columns(with_score).size(), "");
    return out;
  }
  const Value& s = row.summary;
  out.push_back(shown(number(s, "output_throughput"), 1));
  out.push_back(row.baseline.empty() ? "1" : shown(row.speedup, 2));
  out.push_back(shown(number(s, "spec.mean_acceptance_length"), 2));
  out.push_back(percent(number(s, "spec.draft_acceptance_rate")));
  out.push_back(shown(number(s, "mean_ttft_ms"), 0));
  for (const char* name : {"mean", "p50", "p95"})
    out.push_back(shown(number(s, std::string("spec.") + name + "_token_latency_ms"), 1));
  for (const char* name : {"draft", "target", "verify"})
    out.push_back(percent(number(s, std::string("spec.") + name + "_share")));
  out.push_back(row.outputs ? std::to_string(row.outputs->same) + "/" +
                                  std::to_string(row.outputs->compared)
                            : "-");
  if (with_score) out.push_back(shown(number(s, "mean_score"), 3));
  return out;
}

Table table_of(const std::vector<ReportRow>& rows) {
  const bool scored =
      std::ranges::any_of(rows, [](const auto& r) { return r.summary.find("mean_score"); });
  Table table(columns(scored));
  const bool many = std::ranges::any_of(rows, [&](const auto& r) { return r.run != rows[0].run; });
  for (const ReportRow& row : rows) table.add(cells_of(row, many, scored));
  return table;
}

std::string told(const Divergence& d) {
  return d.request + " differs from output token " + std::to_string(d.index) +
         " on; the logit gap there is " + shown(d.margin, 4) + ", the baseline's " +
         shown(d.baseline_margin, 4);
}

Value outputs_value(const Comparison& outputs) {
  Value value = Value::map(), list = Value::list_of({});
  for (const Divergence& d : outputs.divergences) {
    Value entry = Value::map().put("request", Value::of(d.request));
    entry.put("index", Value::of(d.index)).put("margin", Value::of(d.margin));
    list.items.push_back(entry.put("baseline_margin", Value::of(d.baseline_margin)));
  }
  value.put("identical", Value::of(outputs.same)).put("compared", Value::of(outputs.compared));
  return value.put("divergences", std::move(list));
}

BySeed finished_in(const RunFolder& run, const std::vector<const Cell*>& pool) {
  BySeed finished;
  for (const Cell* cell : pool)
    finished.emplace(cell->seed, read_requests(run.of(*cell) / "requests.jsonl"));
  return finished;
}

bool knows_cost(const std::vector<PairedRow>& rows) {
  return rows.empty() || std::ranges::any_of(rows, [](const PairedRow& row) {
           return row.measure == kByCostTable;
         });
}

}  // namespace

Report::Report(std::span<const fs::path> runs, std::span<const std::string> compare) {
  for (const fs::path& root : runs) {
    const RunFolder run = RunFolder::open(root);
    add(run);
    pair_up(run, compare);
    foretell(run);
  }
  judge(paired_);
  judge(foretold_);
}

void Report::pair_up(const RunFolder& run, std::span<const std::string> compare) {
  const std::vector<Cell>& cells = run.plan().cells;
  std::vector<Pair> pairs = run.plan().compare;
  for (const std::string& text : compare) pairs.push_back(parse_pair(text, cells));
  for (const Pair& pair : pairs)
    for (PairedRow& row : paired_rows(pair, finished_in(run, pool_of(cells, pair.of)),
                                      finished_in(run, pool_of(cells, pair.to))))
      paired_.push_back(std::move(row));
}

void Report::foretell(const RunFolder& run) {
  std::vector<std::string> names;
  for (const Cell& cell : run.plan().cells) {
    const std::string name = pool_name(cell);
    if (std::ranges::find(names, name) != names.end()) continue;
    names.push_back(name);
    for (ForetoldRow& row : foretold_rows(name, finished_in(run, pool_of(run.plan().cells, name))))
      foretold_.push_back(std::move(row));
  }
}

void Report::add(const RunFolder& run) {
  for (const Cell& cell : run.plan().cells) {
    ReportRow row;
    row.run = run.root().filename().string();
    row.cell = cell.name;
    row.baseline = cell.baseline;
    row.state = run.state(cell);
    row.failure = run.failure(cell);
    if (row.state == CellState::DONE) row.summary = summary_in(run.of(cell));
    if (!cell.baseline.empty()) compare_with_baseline(run, cell, row);
    rows_.push_back(std::move(row));
  }
}

bool Report::clean() const {
  return std::ranges::all_of(rows_, [](const ReportRow& row) {
    return row.state == CellState::DONE && number(row.summary, "failed") == 0 &&
           (!row.outputs || row.outputs->divergences.empty());
  });
}

std::vector<std::string> Report::remarks() const {
  std::vector<std::string> lines;
  for (const ReportRow& row : rows_) {
    if (row.state == CellState::FAILED) lines.push_back(row.cell + " failed: " + row.failure);
    if (row.state != CellState::DONE) continue;
    if (!row.why_no_speedup.empty())
      lines.push_back(row.cell + " has no speed-up: " + row.why_no_speedup);
    if (const auto failed = number(row.summary, "failed"); failed && *failed > 0)
      lines.push_back(row.cell + ": " + shown(failed, 0) + " requests failed, see requests.jsonl");
    if (const Value* lower = row.summary.find("downgraded"); lower && lower->boolean())
      lines.push_back(row.cell + ": its drafts were verified as deltas (run.log says why)");
    if (const Value* same = row.summary.find("reproducible"); same && !same->boolean())
      lines.push_back(row.cell +
                      ": not reproducible, its length policy reads the clock (length_replay "
                      "repeats it from its trace)");
    if (row.outputs)
      for (const Divergence& d : row.outputs->divergences)
        lines.push_back(row.cell + ": " + told(d));
  }
  if (!knows_cost(paired_))
    lines.emplace_back(
        "no speed by counts: these runs hold no cost table (`redline bench forward --store` keeps "
        "one, and a run measures what is not kept)");
  return lines;
}

std::string Report::text() const {
  std::string out = table_of(rows_).text();
  if (!paired_.empty()) out += '\n' + table_of(paired_).text();
  if (!foretold_.empty()) out += '\n' + table_of(foretold_).text();
  for (const std::string& line : remarks()) out.append(line) += '\n';
  return out;
}

std::string Report::markdown() const {
  std::string out = table_of(rows_).markdown();
  if (!paired_.empty()) out += '\n' + table_of(paired_).markdown();
  if (!foretold_.empty()) out += '\n' + table_of(foretold_).markdown();
  for (const std::string& line : remarks()) out.append("\n").append(line) += '\n';
  return out;
}

Value Report::json() const {
  Value list = Value::list_of({});
  for (const ReportRow& row : rows_) {
    constexpr const char* kStates[] = {"waiting", "begun", "done", "failed"};
    Value entry = Value::map().put("run", Value::of(row.run));
    entry.put("cell", Value::of(row.cell)).put("baseline", Value::of(row.baseline));
    entry.put("state", Value::of(kStates[static_cast<int>(row.state)]));
    if (!row.failure.empty()) entry.put("failure", Value::of(row.failure));
    entry.put("speedup", row.speedup ? Value::of(*row.speedup) : Value{});
    if (!row.why_no_speedup.empty()) entry.put("why_no_speedup", Value::of(row.why_no_speedup));
    entry.put("outputs", row.outputs ? outputs_value(*row.outputs) : Value{});
    list.items.push_back(entry.put("summary", row.summary));
  }
  Value paired = Value::list_of({}), foretold = Value::list_of({});
  for (const PairedRow& row : paired_) paired.items.push_back(to_value(row));
  for (const ForetoldRow& row : foretold_) foretold.items.push_back(to_value(row));
  Value root = Value::map().put("cells", std::move(list));
  return root.put("compared", std::move(paired)).put("foretold", std::move(foretold));
}

}  // namespace redline::experiment
