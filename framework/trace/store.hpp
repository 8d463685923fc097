// SPDX-License-Identifier: Apache-2.0
// The file of a trace while it is written: header, tables, flushes. One thread at a time; the
// Writer owns the thread.
#pragma once
#include <optional>

#include "trace/table_writer.hpp"

namespace redline::trace {

class Store {
 public:
  // Creates the file with all its tables, rows to follow. InputError when it exists.
  Store(const std::filesystem::path& path, const Header& header, bool swmr);

  const Layout& layout() const { return layout_; }
  void add(const StepRecord& step);
  void add(const BatchRecord& batch) { tables_->batches.add(batch); }
  void add(const EventRecord& event) { tables_->events.add(event); }
  void add(const KvRecord& sample) { tables_->kv.add(sample); }
  // Returns when the request and all before it are flushed.
  void add(const RequestRecord& request);
  void flush();
  void finish();   // closes the file and marks it complete
  void abandon();  // after a failure: what is flushed stays as it is

 private:
  struct Below {  // what levels above COUNTS store below a step
    TableWriter<NodeRecord> nodes;
    TableWriter<schema::DecisionRow> decisions;
    TableWriter<schema::LogitsRow> target, draft;
  };
  struct Full {
    TableWriter<schema::FullRow> target, draft;
  };
  struct Tables {
    Tables(hdf5::File& file, const Layout& layout);
    // What hangs below a step goes first, requests last: a row seen is a row whole.
    template <class Visit>
    void each(Visit visit) {
      if (full) visit(full->target), visit(full->draft);
      if (below)
        visit(below->nodes), visit(below->decisions), visit(below->target), visit(below->draft);
      visit(answers), visit(steps), visit(batches), visit(kv), visit(events), visit(requests);
    }
    std::optional<Full> full;
    std::optional<Below> below;
    TableWriter<schema::AnswerRow> answers;
    TableWriter<schema::StepRow> steps;
    TableWriter<BatchRecord> batches;
    TableWriter<KvRecord> kv;
    TableWriter<EventRecord> events;
    std::vector<RaggedWriter> tokens;
    TableWriter<RequestRecord> requests;
  };
  void add_rows(const List<LogitsRecord>& rows, TableWriter<schema::LogitsRow>& to,
                TableWriter<schema::FullRow>* full);

  std::filesystem::path path_;
  Layout layout_;
  bool swmr_;
  hdf5::File file_;
  std::optional<Tables> tables_;  // empty once finished
};

}  // namespace redline::trace
