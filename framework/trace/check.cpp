// SPDX-License-Identifier: Apache-2.0
#include "trace/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "redline/error.hpp"
#include "trace/schema.hpp"

namespace redline::trace {
namespace {

using Ids = std::vector<std::uint64_t>;
constexpr double kSlack = 1e-4;            // of probabilities summed in float32
constexpr std::uint64_t kMostPerRule = 5;  // said in full; the rest is counted
constexpr std::uint64_t kMostRowsAtOnce = 1 << 16;

class Checker {
 public:
  explicit Checker(const Reader& trace) : trace_(trace) {}
  CheckResult run();

 private:
  Ids column(const char* table, const char* name) const {
    return trace_.read<std::uint64_t>(table, name);
  }
  void require(bool holds, const std::string& rule, const std::function<std::string()>& what);
  void require_columns();
  void check_steps();
  void check_budgets();
  void check_requests();
  void check_tokens(const char* path, const char* count_column);
  void check_nodes();
  void check_owner(const char* table);
  std::int32_t minor_version() const;  // of the writer
  void check_range(const char* table, const char* column, double low, double high);

  const Reader& trace_;
  CheckResult result_;
  std::unordered_map<std::string, std::uint64_t> said_;
  Ids key_, n_nodes_, accepted_, emitted_;  // columns of /steps, whole rows only
  std::vector<bool> counts_;                // whether n_steps counts the row
};

void Checker::require(bool holds, const std::string& rule,
                      const std::function<std::string()>& what) {
  if (holds) return;
  ++result_.violation_count;
  if (++said_[rule] <= kMostPerRule) result_.violations.push_back(rule + ": " + what());
}

std::string at(const char* table, std::size_t row) {
  return std::string(table) + " row " + std::to_string(row);
}

// Every column of the schema that this level stores must be there; more may be.
void Checker::require_columns() {
  const std::string level = trace_.attribute("/", "level");
  int stored = -1;
  for (const Level each : {Level::COUNTS, Level::CHOSEN, Level::TOPK, Level::FULL})
    if (schema::name_of(each) == level) stored = static_cast<int>(each);
  if (stored < 0)
    throw InputError("trace " + trace_.path().string() + ": unknown level \"" + level + "\"");
  const std::int32_t minor = minor_version();
  for (const schema::TableView& table : schema::tables()) {
    std::unordered_set<std::string> present;
    for (const ColumnFacts& column : trace_.columns(std::string(table.facts.path)))
      present.insert(column.name);
    for (const schema::Column& column : table.columns)
      if (static_cast<int>(std::max(table.facts.from, column.notes.from)) <= stored &&
          column.notes.since <= minor && !present.contains(std::string(column.name)))
        throw InputError("trace " + trace_.path().string() + ": " + std::string(table.facts.path) +
                         " has no column " + std::string(column.name) + ", which level " + level +
                         " stores");
  }
}

void Checker::check_steps() {
  const std::uint64_t rows = trace_.rows("/steps");
  key_ = column("/steps", "request_key"), n_nodes_ = column("/steps", "n_nodes");
  accepted_ = column("/steps", "accepted_by_rule"), emitted_ = column("/steps", "emitted");
  const Ids kind = column("/steps", "kind");
  const Ids drafted = column("/steps", "drafted"), committed = column("/steps", "committed");
  for (std::uint64_t i = 0; i < rows; ++i) {
    counts_.push_back(committed[i] > 0 && kind[i] != static_cast<std::uint64_t>(StepKind::PREFILL));
    require(accepted_[i] <= drafted[i], "accepted_by_rule <= drafted", [&] {
      return at("/steps", i) + " accepts " + std::to_string(accepted_[i]) + " of " +
             std::to_string(drafted[i]);
    });
    require(emitted_[i] <= committed[i], "emitted <= committed", [&] {
      return at("/steps", i) + " emits " + std::to_string(emitted_[i]) + " of " +
             std::to_string(committed[i]);
    });
  }
  for (Ids* each : {&key_, &n_nodes_, &accepted_, &emitted_}) each->resize(rows);
  result_.steps = rows;
}

// A draft keeps to what the length policy allowed; answers hang on their steps one by one.
void Checker::check_budgets() {
  constexpr std::uint64_t kNone = StepRecord::kNoBudget;
  const Ids nodes = column("/steps", "budget_nodes"), depth = column("/steps", "budget_depth");
  const Ids max_depth = column("/steps", "max_depth"), start = column("/steps", "answer_start");
  const Ids count = column("/steps", "n_answers"), asked_at = column("/answers", "depth");
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < key_.size(); ++i) {
    require(nodes[i] == kNone || (n_nodes_[i] <= nodes[i] && max_depth[i] <= depth[i]),
            "n_nodes <= budget_nodes, max_depth <= budget_depth", [&] {
              return at("/steps", i) + " drafts " + std::to_string(n_nodes_[i]) + " nodes, depth " +
                     std::to_string(max_depth[i]) + ", of " + std::to_string(nodes[i]) +
                     ", depth " + std::to_string(depth[i]);
            });
    require(start[i] == expected, "answers follow each other in step order", [&] {
      return at("/steps", i) + " starts at answer " + std::to_string(start[i]) + ", not " +
             std::to_string(expected);
    });
    expected = start[i] + count[i];
    if (start[i] > asked_at.size() || count[i] > asked_at.size() - start[i]) {
      require(!trace_.complete(), "every step has its answers", [&] {
        return at("/steps", i) + " needs " + std::to_string(expected) + " answers of " +
               std::to_string(asked_at.size());
      });
      break;  // the end of a killed file
    }
    for (std::uint64_t a = start[i]; a < expected; ++a)
      require(asked_at[a] < depth[i], "depth of an answer < budget_depth", [&] {
        return at("/answers", a) + " lies at depth " + std::to_string(asked_at[a]) + " of " +
               std::to_string(depth[i]);
      });
  }
}

// Keys may come twice (a warm-up of the same question): sums are compared per key.
void Checker::check_requests() {
  struct Sum {
    std::uint64_t emitted = 0, steps = 0, n_output = 0, n_steps = 0;
  };
  std::unordered_map<std::uint64_t, Sum> sums;
  const std::uint64_t rows = result_.requests = trace_.rows("/requests");
  const Ids keys = column("/requests", "request_key"), n_output = column("/requests", "n_output");
  const Ids n_steps = column("/requests", "n_steps");
  for (std::uint64_t i = 0; i < rows; ++i)
    sums[keys[i]].n_output += n_output[i], sums[keys[i]].n_steps += n_steps[i];
  for (std::size_t i = 0; i < key_.size(); ++i) {
    const auto found = sums.find(key_[i]);
    if (found == sums.end()) {
      ++result_.unfinished_steps;
      continue;
    }
    found->second.emitted += emitted_[i];
    found->second.steps += counts_[i];
  }
  for (const auto& [key, sum] : sums) {
    require(sum.emitted == sum.n_output, "sum of emitted = n_output", [&, key = key, sum = sum] {
      return "request " + std::to_string(key) + " has " + std::to_string(sum.n_output) +
             " output tokens, its steps emit " + std::to_string(sum.emitted);
    });
    require(sum.steps == sum.n_steps, "rows of /steps = n_steps", [&, key = key, sum = sum] {
      return "request " + std::to_string(key) + " counts " + std::to_string(sum.n_steps) +
             " steps, " + std::to_string(sum.steps) + " are stored";
    });
  }
  if (trace_.complete())
    require(result_.unfinished_steps == 0, "every step belongs to a request", [&] {
      return std::to_string(result_.unfinished_steps) +
             " steps of no stored request in a complete file";
    });
}

void Checker::check_tokens(const char* path, const char* count_column) {
  const Ids ends = column(path, "indptr"), counts = column("/requests", count_column);
  const std::uint64_t held = trace_.columns(path).empty() ? 0 : column(path, "data").size();
  for (std::uint64_t i = 0; i < result_.requests; ++i)
    require(i + 1 < ends.size() && ends[i + 1] <= held && ends[i] + counts[i] == ends[i + 1],
            std::string("token lists have the length of ") + count_column, [&] {
              return std::string(path) + " list " + std::to_string(i) + " of " +
                     std::to_string(counts[i]);
            });
}

void Checker::check_nodes() {
  const std::uint64_t rows = trace_.rows("/nodes");
  const Ids start = column("/steps", "node_start"), state = column("/nodes", "state");
  const std::vector<std::int64_t> parent = trace_.read<std::int64_t>("/nodes", "parent");
  constexpr auto kAccepted = static_cast<std::uint64_t>(NodeState::ACCEPTED);
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < key_.size(); ++i) {
    if (start[i] == schema::kNoRow) continue;  // a failed step
    require(start[i] == expected, "nodes follow each other in step order", [&] {
      return at("/steps", i) + " starts at node " + std::to_string(start[i]) + ", not " +
             std::to_string(expected);
    });
    expected = start[i] + n_nodes_[i];
    if (start[i] > rows || n_nodes_[i] > rows - start[i]) {
      require(!trace_.complete(), "every step has its nodes", [&] {
        return at("/steps", i) + " needs " + std::to_string(expected) + " nodes of " +
               std::to_string(rows);
      });
      break;  // the end of a killed file
    }
    std::uint64_t accepted = 0;
    for (std::uint64_t n = 0; n < n_nodes_[i]; ++n) {
      const std::uint64_t row = start[i] + n;
      require(parent[row] >= -1 && parent[row] < static_cast<std::int64_t>(n),
              "parents precede children",
              [&] { return at("/nodes", row) + " has parent " + std::to_string(parent[row]); });
      accepted += state[row] == kAccepted;
    }
    require(accepted == accepted_[i], "accepted nodes = accepted_by_rule", [&] {
      return at("/steps", i) + " accepts " + std::to_string(accepted_[i]) + ", " +
             std::to_string(accepted) + " of its nodes are accepted";
    });
  }
}

// Rows below a step name a step that is there, or will be once the writer goes on.
void Checker::check_owner(const char* table) {
  if (!trace_.complete()) return;
  const Ids owner = column(table, "step_row");
  for (std::size_t i = 0; i < owner.size(); ++i)
    require(owner[i] < key_.size(), "step_row names a row of /steps",
            [&] { return at(table, i) + " names step " + std::to_string(owner[i]); });
}

std::int32_t Checker::minor_version() const {
  const std::string version = trace_.attribute("/", "format_version_text");
  const std::size_t point = version.find('.');
  return point == std::string::npos ? 0 : std::atoi(version.c_str() + point + 1);
}

void Checker::check_range(const char* table, const char* name, double low, double high) {
  const std::uint64_t rows = trace_.rows(table);
  for (std::uint64_t from = 0; from < rows; from += kMostRowsAtOnce) {
    const std::vector<double> values =
        trace_.read<double>(table, name, from, std::min(kMostRowsAtOnce, rows - from));
    for (std::size_t i = 0; i < values.size(); ++i)
      require(std::isnan(values[i]) || (values[i] >= low - kSlack && values[i] <= high + kSlack),
              std::string(name) + " is in range",
              [&] { return at(table, from + i) + " holds " + std::to_string(values[i]); });
  }
}

CheckResult Checker::run() {
  require_columns();
  check_steps();
  if (minor_version() >= 1) {
    check_budgets();
    check_owner("/answers");
  }
  check_requests();
  check_tokens("/requests/prompt_tokens", "n_prompt");
  check_tokens("/requests/output_tokens", "n_output");
  if (!trace_.has("/nodes")) return result_;
  check_nodes();
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  for (const char* column : {"alpha", "accept_prob"}) check_range("/nodes", column, 0, 1);
  if (minor_version() >= 1) check_range("/nodes", "tv", 0, 1);
  if (minor_version() >= 2) check_range("/nodes", "optimal", 0, 1);
  for (const char* column : {"q_logprob", "p_logprob", "q_raw_logprob", "p_raw_logprob"})
    check_range("/nodes", column, -kNoLimit, 0);
  check_range("/decisions", "prob", 0, 1);
  check_owner("/decisions");
  for (const char* table : {"/logits/target", "/logits/draft"}) {
    check_range(table, "tail_mass", 0, 1);
    check_range(table, "entropy", 0, kNoLimit);
    check_owner(table);
  }
  return result_;
}

}  // namespace

CheckResult check(const Reader& trace) { return Checker(trace).run(); }

}  // namespace redline::trace
