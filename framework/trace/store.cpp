// SPDX-License-Identifier: Apache-2.0
#include "trace/store.hpp"

#include "redline/error.hpp"
#include "trace/header.hpp"

namespace redline::trace {
namespace {

// Until its tables stand and SWMR runs, a killed file would not open: it gets its name only then.
std::filesystem::path unfinished(std::filesystem::path path) { return path += ".new"; }

hdf5::File create(const std::filesystem::path& path, const Header& header, bool swmr) {
  if (header.level >= Level::TOPK && header.topk < 1)
    throw InputError("trace level " + std::string(schema::name_of(header.level)) + " with top-k " +
                     std::to_string(header.topk) + ": k must be at least 1");
  if (header.level == Level::FULL && header.vocab < 1)
    throw InputError("trace level full with a vocabulary of " + std::to_string(header.vocab));
  if (std::filesystem::exists(path))
    throw InputError(
        "trace " + path.string() +
        " exists already and is never written again; a resumed run takes the next number");
  std::filesystem::remove(unfinished(path));
  hdf5::File file = hdf5::File::create(unfinished(path), swmr);
  write_header(file, header);
  return file;
}

}  // namespace

Store::Tables::Tables(hdf5::File& file, const Layout& layout)
    : answers(file, schema::answers(), layout),
      steps(file, schema::steps(), layout),
      batches(file, schema::batches(), layout),
      kv(file, schema::kv(), layout),
      events(file, schema::events(), layout),
      requests(file, schema::requests(), layout) {
  if (layout.level >= Level::CHOSEN)
    below.emplace(Below{{file, schema::nodes(), layout},
                        {file, schema::decisions(), layout},
                        {file, schema::target_logits(), layout},
                        {file, schema::draft_logits(), layout}});
  if (layout.level == Level::FULL)
    full.emplace(Full{{file, schema::target_full(), layout}, {file, schema::draft_full(), layout}});
  for (const schema::Ragged& ragged : schema::token_lists()) tokens.emplace_back(file, ragged);
}

Store::Store(const std::filesystem::path& path, const Header& header, bool swmr)
    : path_(path),
      layout_{header.level, header.topk, header.vocab},
      swmr_(swmr),
      file_(create(path, header, swmr)) {
  tables_.emplace(file_, layout_);
  describe_logits(file_, header);
  if (swmr_)
    file_.start_swmr();
  else
    file_.flush();
  std::filesystem::rename(unfinished(path), path);
}

void Store::add(const StepRecord& step) {
  Tables& tables = *tables_;
  schema::StepRow row{step, schema::kNoRow, schema::kNoRow, schema::kNoRow, tables.answers.rows()};
  for (const AnswerRecord& answer : step.answers) tables.answers.add({answer, tables.steps.rows()});
  if (tables.below) {
    Below& below = *tables.below;
    if (step.nodes.size() == step.n_nodes) row.node_start = below.nodes.rows();
    row.decision_start = below.decisions.rows();
    row.logit_start = below.target.rows();
    for (const NodeRecord& node : step.nodes) below.nodes.add(node);
    for (const DecisionRecord& decision : step.decisions)
      below.decisions.add({decision, tables.steps.rows()});
    add_rows(step.target_rows, below.target, tables.full ? &tables.full->target : nullptr);
    add_rows(step.draft_rows, below.draft, tables.full ? &tables.full->draft : nullptr);
  }
  tables.steps.add(row);
}

void Store::add_rows(const List<LogitsRecord>& rows, TableWriter<schema::LogitsRow>& to,
                     TableWriter<schema::FullRow>* full) {
  for (const LogitsRecord& record : rows) {
    if (full && !record.full.empty()) full->add({record, to.rows()});
    to.add({record, tables_->steps.rows(), layout_.topk});
  }
}

// The row of a request is appended only when all it vouches for is flushed, so a reader of a killed
// file never sees a request without its steps.
void Store::add(const RequestRecord& request) {
  flush();
  for (RaggedWriter& tokens : tables_->tokens) tokens.add(request), tokens.flush();
  tables_->requests.add(request);
  flush();
}

void Store::flush() {
  tables_->each([](TableFile& table) { table.flush(); });
  if (!swmr_) file_.flush();  // the old format keeps its sizes in the library until then
}

void Store::abandon() {
  if (tables_) {
    tables_->each([](TableFile& table) { table.abandon(); });
    for (RaggedWriter& tokens : tables_->tokens) tokens.abandon();
  }
  file_.abandon();
}

void Store::finish() {
  flush();
  tables_.reset();
  file_.close();
  hdf5::File again = hdf5::File::reopen(path_, swmr_);
  again.padded_attribute("state", "complete", kStateWidth);
  again.close();
}

}  // namespace redline::trace
