// SPDX-License-Identifier: Apache-2.0
#include "redline/bench_forward.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <string>

#include "experiment/table.hpp"
#include "files/json.hpp"
#include "redline/error.hpp"
#include "redline/forward_bench.hpp"
#include "redline/serve_forward.hpp"

namespace redline::tool {
namespace {

constexpr int kMostRows = 4096, kPromptRows = 512;
constexpr int kStoredRows = 64, kStoredContext = 2048;  // the largest of the default plan

struct Timed {
  ForwardKind kind;
  int rows;
  std::vector<double> ns = {}, least_ns = {};  // least: by the probe just before

  double median_ms() const { return model::median(ns) / 1e6; }
  double paired() const {  // the median of ratios
    std::vector<double> ratios;
    std::ranges::transform(ns, least_ns, std::back_inserter(ratios), std::divides{});
    return model::median(ratios);
  }
};

ForwardLimits limits_of(const BenchForwardOptions& o) {
  std::vector<int> rows = o.rows;
  rows.insert(rows.end(), o.trees.begin(), o.trees.end());
  if (rows.empty() || std::ranges::min(rows) < 1 || std::ranges::max(rows) > kMostRows ||
      o.context < 0 || o.repeats < 1)
    throw InputError("bench forward: rows from 1 to " + std::to_string(kMostRows) +
                     ", a context of 0 or more, 1 repeat or more");
  ForwardLimits limits{.rows = kPromptRows, .wanted = std::ranges::max(rows), .positions = 0};
  if (o.store) limits.wanted = std::max(limits.wanted, kStoredRows);
  limits.rows = std::max(limits.rows, limits.wanted);
  limits.positions = o.context + limits.wanted;
  if (o.serve) limits.positions = std::max(limits.positions, limits.rows);
  if (o.store) limits.positions = std::max(limits.positions, kStoredContext + kStoredRows);
  return limits;
}

// All widths in turn, again and again: a slow moment of a shared host slows all of them.
std::vector<Timed> measure(ForwardBench& bench, const BenchForwardOptions& o) {
  std::vector<Timed> all;
  for (const int rows : o.rows) all.push_back({ForwardKind::CHAIN, rows});
  for (const int rows : o.trees) all.push_back({ForwardKind::TREE, rows});
  for (const Timed& t : all) bench.ns(t.kind, t.rows);  // warms caches and threads
  for (int repeat = 0; repeat < o.repeats; ++repeat) {
    bench.probe();
    for (Timed& t : all) {
      t.ns.push_back(bench.ns(t.kind, t.rows));
      t.least_ns.push_back(bench.roofline_now_ns(t.rows));
    }
  }
  return all;
}

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

void print_table(ForwardBench& bench, const std::vector<Timed>& all) {
  const model::Limits& best = bench.best();
  std::printf("%s, %d threads: reads %.1f GB/s, %.0f G multiply-adds/s, %.0f G FMAs/s\n",
              std::string(bench.isa()).c_str(), bench.threads(), best.read_bytes / 1e9,
              best.multiply_adds / 1e9, best.fmas / 1e9);
  std::printf("a forward: %.3f GB of weights, %.3f G multiply-adds a row\n",
              bench.work().weight_bytes / 1e9, bench.work().multiply_adds_a_row / 1e9);
  experiment::Table table({"rows", "median ms", "roofline ms", "x roofline", "paired"});
  for (const Timed& t : all) {
    const double roofline = bench.roofline_ns(t.rows) / 1e6;
    table.add({std::to_string(t.rows) + (t.kind == ForwardKind::TREE ? " tree" : ""),
               fixed(t.median_ms(), 2), fixed(roofline, 2), fixed(t.median_ms() / roofline, 2),
               fixed(t.paired(), 2)});
  }
  std::printf("%s", table.text().c_str());
  std::printf(
      "roofline: by the best rates of the run; paired: each forward by those just before it\n");
}

void print_json(ForwardBench& bench, const BenchForwardOptions& o, const std::vector<Timed>& all) {
  files::json::array chains, trees;
  for (const Timed& t : all) {
    const double roofline = bench.roofline_ns(t.rows) / 1e6;
    (t.kind == ForwardKind::TREE ? trees : chains)
        .push_back({{"rows", t.rows},
                    {"median_ms", t.median_ms()},
                    {"roofline_ms", roofline},
                    {"x_roofline", t.median_ms() / roofline},
                    {"x_roofline_paired", t.paired()}});
  }
  files::json::object result = described(bench, o);
  result["limits"] = limits_json(bench.best());
  result["rows"] = chains;
  if (!trees.empty()) result["trees"] = trees;
  std::printf("%s\n", files::json::serialize(result).c_str());
}

}  // namespace

int bench_forward(const BenchForwardOptions& options) {
  ForwardBench bench(options.model, limits_of(options), options.context);
  if (options.serve) return serve_forward(bench, options);
  BenchForwardOptions sorted = options;
  std::ranges::sort(sorted.rows);
  const std::vector<Timed> all = measure(bench, sorted);
  options.json ? print_json(bench, options, all) : print_table(bench, all);
  if (!options.store) return 0;
  const auto say = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  say("stored in " + bench.store_costs(say).string());
  return 0;
}

}  // namespace redline::tool
