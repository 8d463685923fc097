// SPDX-License-Identifier: Apache-2.0
#include "experiment/paired.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <optional>

namespace redline::experiment {
namespace {

using config::Value;
constexpr double kNsPerS = 1e9;

double sum(const std::vector<std::uint16_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), 0.);
}

// Nothing where a request does not have the measure.
using Measured = std::optional<Part>;

Measured accept_length(const Finished& f) {
  const auto steps = static_cast<double>(f.drafted_per_step.size());
  return Part{steps + sum(f.accepted_per_step), steps};
}
// The same, with what the rule expected to keep of each draft: free of its own draws.
Measured foretold_length(const Finished& f) {
  if (f.tally.foretold_steps != f.drafted_per_step.size()) return std::nullopt;
  const auto steps = static_cast<double>(f.tally.foretold_steps);
  return Part{steps + f.tally.foretold, steps};
}
Measured accept_rate(const Finished& f) {
  return Part{sum(f.accepted_per_step), sum(f.drafted_per_step)};
}
Measured score(const Finished& f) { return f.score ? Measured(Part{*f.score, 1}) : std::nullopt; }
Measured tokens_per_second(const Finished& f) {
  if (f.times.empty()) return std::nullopt;
  return Part{static_cast<double>(f.tokens.size()),
              static_cast<double>(f.times.back().end_ns) / kNsPerS};
}
// By what forwards cost in the stored table: no clock of this run is in it.
Measured tokens_per_stored_second(const Finished& f) {
  if (f.times.empty() || (f.tally.cost_ns <= 0 && f.counts.steps > 0)) return std::nullopt;
  return Part{static_cast<double>(f.counts.emitted) - f.times.front().emitted,
              f.tally.cost_ns / kNsPerS};
}

struct Measure {
  std::string_view name;
  Measured (*of)(const Finished&);
};
constexpr std::array kMeasures{
    Measure{"accept length", accept_length},
    Measure{"foretold length", foretold_length},
    Measure{"accept rate", accept_rate},
    Measure{"score", score},
    Measure{kByCostTable, tokens_per_stored_second},
    Measure{"tokens/s of a request", tokens_per_second},
};

using Couple = std::pair<const Finished*, const Finished*>;

bool counts(const Finished& f) { return !f.is_warmup && !f.failed(); }

std::vector<Couple> couples_of(const BySeed& of, const BySeed& to) {
  std::vector<Couple> couples;
  for (const auto& [seed, requests] : of) {
    const auto theirs = to.find(seed);
    if (theirs == to.end()) continue;
    std::map<std::uint64_t, const Finished*> by_key;
    for (const Finished& f : theirs->second)
      if (counts(f)) by_key[f.key] = &f;
    for (const Finished& f : requests)
      if (const auto other = by_key.find(f.key); counts(f) && other != by_key.end())
        couples.emplace_back(&f, other->second);
  }
  return couples;
}

std::string shown(double value, bool signed_ = false) {
  if (!std::isfinite(value)) return "-";
  char text[48];
  std::snprintf(text, sizeof text, signed_ ? "%+.3f" : "%.3f", value);
  return text;
}

std::string shown(const Estimate& e) {
  return "[" + shown(e.low, true) + ", " + shown(e.high, true) + "]";
}

Value to_value(const Estimate& e) {
  Value value = Value::map().put("value", Value::of(e.value));
  return value.put("low", Value::of(e.low)).put("high", Value::of(e.high)).put("p", Value::of(e.p));
}

Value to_value(std::optional<bool> verdict) { return verdict ? Value::of(*verdict) : Value{}; }

std::string verdict(std::optional<bool> holds, const char* yes, const char* no) {
  return !holds ? "too few requests" : *holds ? yes : no;
}

template <typename Row>
std::vector<bool> holm_of(const std::vector<Row>& rows) {
  std::vector<double> p;
  for (const Row& row : rows) p.push_back(row.difference.p);
  return holm(p);
}

}  // namespace

std::vector<PairedRow> paired_rows(const Pair& pair, const BySeed& of, const BySeed& to) {
  std::vector<PairedRow> rows;
  const std::vector<Couple> couples = couples_of(of, to);
  for (const Measure& measure : kMeasures) {
    std::vector<Part> mine, theirs;
    for (const auto& [a, b] : couples) {
      const Measured x = measure.of(*a), y = measure.of(*b);
      if (!x || !y) break;
      mine.push_back(*x), theirs.push_back(*y);
    }
    if (mine.size() < couples.size() || mine.empty()) continue;
    const Estimate difference = paired_difference(mine, theirs);
    if (!std::isfinite(difference.value)) continue;
    rows.push_back({pair.of, pair.to, std::string(measure.name), mine.size(), ratio_of_sums(mine),
                    ratio_of_sums(theirs), difference});
  }
  return rows;
}

void judge(std::vector<PairedRow>& rows) {
  const std::vector<bool> holds = holm_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].requests >= kFewestRequests)
      rows[i].is_real = holds[i] && rows[i].difference.excludes_zero();
}

Table table_of(const std::vector<PairedRow>& rows) {
  Table table({"compared", "measure", "requests", "mean", "mean of the other", "difference",
               "95 % interval", "verdict"});
  for (const PairedRow& r : rows)
    table.add({r.of + " to " + r.to, r.measure, std::to_string(r.requests), shown(r.of_mean),
               shown(r.to_mean), shown(r.difference.value, true), shown(r.difference),
               verdict(r.is_real, "real", "not told apart")});
  return table;
}

Value to_value(const PairedRow& row) {
  Value value = Value::map().put("of", Value::of(row.of)).put("to", Value::of(row.to));
  value.put("measure", Value::of(row.measure)).put("requests", Value::of(row.requests));
  value.put("of_mean", Value::of(row.of_mean)).put("to_mean", Value::of(row.to_mean));
  return value.put("difference", to_value(row.difference)).put("real", to_value(row.is_real));
}

std::vector<ForetoldRow> foretold_rows(const std::string& cell, const BySeed& requests) {
  std::vector<Part> kept, foretold, beyond;
  for (const auto& [seed, finished] : requests) {
    for (const Finished& f : finished) {
      if (!counts(f) || f.tally.foretold_steps == 0) continue;
      const auto steps = static_cast<double>(f.tally.foretold_steps);
      const auto tokens = static_cast<double>(f.tally.kept);
      kept.push_back({tokens, steps}), foretold.push_back({f.tally.foretold, steps});
      beyond.push_back({tokens - f.tally.foretold, steps});
    }
  }
  if (kept.empty()) return {};
  return {{cell, kept.size(), ratio_of_sums(foretold), ratio_of_sums(kept), mean_estimate(beyond)}};
}

void judge(std::vector<ForetoldRow>& rows) {
  const std::vector<bool> differs = holm_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].requests >= kFewestRequests)
      rows[i].agrees = !(differs[i] && rows[i].difference.excludes_zero());
}

Table table_of(const std::vector<ForetoldRow>& rows) {
  Table table({"cell", "foretold", "kept", "kept - foretold", "95 % interval", "verdict"});
  for (const ForetoldRow& r : rows)
    table.add({r.cell, shown(r.foretold), shown(r.kept), shown(r.difference.value, true),
               shown(r.difference), verdict(r.agrees, "agree", "differ")});
  return table;
}

Value to_value(const ForetoldRow& row) {
  Value value = Value::map().put("cell", Value::of(row.cell));
  value.put("requests", Value::of(row.requests));
  value.put("foretold", Value::of(row.foretold));
  value.put("kept", Value::of(row.kept)).put("difference", to_value(row.difference));
  return value.put("agrees", to_value(row.agrees));
}

}  // namespace redline::experiment
