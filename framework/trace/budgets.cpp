// SPDX-License-Identifier: Apache-2.0
#include "trace/budgets.hpp"

#include <set>

#include "redline/error.hpp"
#include "trace/reader.hpp"

namespace redline::trace {
namespace {

using Ids = std::vector<std::uint64_t>;

// /steps and /answers of one file.
struct Columns {
  explicit Columns(const Reader& r)
      : key(r.read<std::uint64_t>("/steps", "request_key")),
        step(r.read<std::uint64_t>("/steps", "seq_step")),
        nodes(r.read<std::uint64_t>("/steps", "budget_nodes")),
        depth(r.read<std::uint64_t>("/steps", "budget_depth")),
        start(r.read<std::uint64_t>("/steps", "answer_start")),
        count(r.read<std::uint64_t>("/steps", "n_answers")),
        asked_at(r.read<std::uint64_t>("/answers", "depth")),
        may_grow(r.read<std::uint64_t>("/answers", "may_grow")) {}
  Ids key, step, nodes, depth, start, count, asked_at, may_grow;

  bool whole(std::size_t row) const {  // not the end of a killed file
    return start[row] <= asked_at.size() && count[row] <= asked_at.size() - start[row];
  }
  RecordedStep of(std::size_t row) const {
    RecordedStep made;
    if (nodes[row] != StepRecord::kNoBudget)
      made.budget = {static_cast<int>(nodes[row]), static_cast<int>(depth[row])};
    for (std::uint64_t a = start[row]; a < start[row] + count[row]; ++a)
      made.answers.push_back({static_cast<int>(asked_at[a]), may_grow[a] != 0});
    return made;
  }
};

void require_budgets(const Reader& reader) {
  for (const ColumnFacts& column : reader.columns("/steps"))
    if (column.name == "budget_nodes") return;
  throw InputError("trace " + reader.path().string() + " is of format " +
                   reader.attribute("/", "format_version_text") +
                   ", which stores no budgets (1.1 does); run it again with this redline");
}

void read(const Reader& reader, RecordedBudgets& into) {
  require_budgets(reader);
  const Columns columns(reader);
  std::set<std::uint64_t> met;
  const std::uint64_t rows = reader.rows("/steps");
  for (std::uint64_t row = 0; row < rows && columns.whole(row); ++row) {
    const std::uint64_t key = columns.key[row];
    if (met.insert(key).second) into[key].clear();
    into[key].insert_or_assign(static_cast<std::uint32_t>(columns.step[row]), columns.of(row));
  }
}

}  // namespace

RecordedBudgets recorded_budgets(const std::filesystem::path& path) {
  if (path.empty()) throw InputError("no trace is named; give a file or a cell's folder");
  RecordedBudgets made;
  const auto files = trace_files(path);
  for (const auto& file : files) {
    if (file.parent_path() != files.front().parent_path())
      throw InputError("trace " + path.string() + " holds several cells, " +
                       files.front().parent_path().string() + " and " +
                       file.parent_path().string() + "; name one");
    read(Reader(file), made);
  }
  return made;
}

}  // namespace redline::trace
