// SPDX-License-Identifier: Apache-2.0
#include "redline/trace_csv.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>

#include "redline/error.hpp"
#include "trace/reader.hpp"

namespace redline::tool {
namespace {

using trace::ColumnFacts;
using trace::Reader;
constexpr std::uint64_t kRowsAtOnce = 4096;

template <class T>
std::string text_of(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) return "";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};  // shortest that reads back
}

// The cells of one column, [count].
template <class T>
std::vector<std::string> cells_as(const Reader& file, const std::string& table,
                                  const ColumnFacts& column, std::uint64_t from,
                                  std::uint64_t count) {
  const std::vector<T> values = file.read<T>(table, column.name, from, count);
  std::vector<std::string> out(count);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    std::string& cell = out[i / column.width];
    if (i % column.width != 0) cell += ' ';
    cell += text_of(values[i]);
  }
  return out;
}

std::vector<std::string> cells(const Reader& file, const std::string& table,
                               const ColumnFacts& column, std::uint64_t from, std::uint64_t count) {
  switch (column.number) {
    case ColumnFacts::Number::UNSIGNED:
      return cells_as<std::uint64_t>(file, table, column, from, count);
    case ColumnFacts::Number::SIGNED:
      return cells_as<std::int64_t>(file, table, column, from, count);
    case ColumnFacts::Number::REAL:
      return cells_as<double>(file, table, column, from, count);
  }
  return {};
}

class CsvWriter {
 public:
  CsvWriter(std::ostream& out, std::string table, bool many)
      : out_(out), table_(std::move(table)), many_(many) {}

  void add(const Reader& file) {
    const std::vector<ColumnFacts> columns = file.columns(table_);
    if (columns.empty())
      throw InputError("trace " + file.path().string() + ": no table " + table_.substr(1) +
                       "; `redline trace info` lists them");
    write_names(file, columns);
    const std::uint64_t rows = file.rows(table_);
    for (std::uint64_t from = 0; from < rows; from += kRowsAtOnce)
      write_rows(file, columns, from, std::min(kRowsAtOnce, rows - from));
  }

 private:
  void write_names(const Reader& file, const std::vector<ColumnFacts>& columns) {
    std::vector<std::string> names;
    for (const ColumnFacts& column : columns) names.push_back(column.name);
    if (!names_.empty() && names != names_)
      throw InputError("trace " + file.path().string() + ": its " + table_.substr(1) +
                       " has other columns than the files before; export one file at a time");
    if (!names_.empty()) return;
    names_ = names;
    const char* comma = many_ ? "file," : "";
    for (const std::string& name : names_) out_ << comma << name, comma = ",";
    out_ << '\n';
  }
  void write_rows(const Reader& file, const std::vector<ColumnFacts>& columns, std::uint64_t from,
                  std::uint64_t count) {
    std::vector<std::vector<std::string>> block;  // [columns][count]
    for (const ColumnFacts& column : columns)
      block.push_back(cells(file, table_, column, from, count));
    for (std::uint64_t row = 0; row < count; ++row) {
      if (many_) out_ << file.path().string() << ',';
      for (std::size_t c = 0; c < block.size(); ++c) out_ << (c ? "," : "") << block[c][row];
      out_ << '\n';
    }
  }

  std::ostream& out_;
  std::string table_;
  bool many_;
  std::vector<std::string> names_;
};

}  // namespace

int export_csv(const std::filesystem::path& path, const std::string& table,
               const std::filesystem::path& csv) {
  const auto files = trace::trace_files(path);
  std::ofstream file;
  if (!csv.empty()) file.open(csv);
  std::ostream& out = csv.empty() ? std::cout : file;
  CsvWriter writer(out, "/" + table, files.size() > 1);
  for (const auto& each : files) writer.add(Reader(each));
  out.flush();
  if (!out) throw InputError("trace: " + csv.string() + " cannot be written");
  return 0;
}

}  // namespace redline::tool
