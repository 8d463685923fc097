// SPDX-License-Identifier: Apache-2.0
// One table of the file: gathers rows column by column and appends them as blocks. Not thread-safe.
#pragma once
#include <vector>

#include "trace/schema.hpp"

namespace redline::trace {

struct Layout {  // what the header says about sizes
  Level level;
  std::int32_t topk, vocab;
  std::int64_t width(schema::Width width) const;  // 0: one value a row
};

class TableFile {  // all but the knowledge of rows
 public:
  TableFile(hdf5::File& file, const schema::TableFacts& facts,
            const std::vector<schema::Column>& columns, Layout layout);
  std::uint64_t rows() const { return rows_; }  // appended or pending
  void flush();                                 // appends what is pending and flushes it
  void abandon();

 protected:
  struct Slot {
    hdf5::Dataset dataset;
    schema::Bytes pending;
  };
  void row_added();
  std::vector<Slot> slots_;

 private:
  void append();
  std::uint64_t rows_ = 0;
  std::uint32_t pending_rows_ = 0, chunk_rows_;
  bool dirty_ = false;
};

template <class Row>
class TableWriter : public TableFile {
 public:
  TableWriter(hdf5::File& file, const schema::Table<Row>& table, Layout layout)
      : TableFile(file, table.facts, columns(table, layout.level), layout) {
    for (const schema::Field<Row>& field : table.fields)
      if (field.column.notes.from <= layout.level) puts_.push_back(field.put);
  }
  void add(const Row& row) {
    for (std::size_t i = 0; i < puts_.size(); ++i) puts_[i](row, slots_[i].pending);
    row_added();
  }

 private:
  static std::vector<schema::Column> columns(const schema::Table<Row>& table, Level level) {
    std::vector<schema::Column> out;
    for (const schema::Field<Row>& field : table.fields)
      if (field.column.notes.from <= level) out.push_back(field.column);
    return out;
  }
  std::vector<void (*)(const Row&, schema::Bytes&)> puts_;
};

class RaggedWriter {  // lists of token ids as CSR
 public:
  RaggedWriter(hdf5::File& file, const schema::Ragged& ragged);
  void add(const RequestRecord& request);
  void flush();
  void abandon();

 private:
  const schema::Ragged& ragged_;
  hdf5::Dataset data_, indptr_;
  std::uint64_t end_ = 0;
};

}  // namespace redline::trace
