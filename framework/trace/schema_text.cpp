// SPDX-License-Identifier: Apache-2.0
// The schema as the table of docs/traces.md.
#include "trace/schema.hpp"

namespace redline::trace::schema {
namespace {

std::string missing_text(const Column& column) {
  switch (column.notes.missing) {
    case Missing::NEVER:
      return "";
    case Missing::NOT_A_NUMBER:
      return "NaN";
    case Missing::MINUS_ONE:
      return "-1";
    case Missing::MAXIMUM:
      return column.type == hdf5::Type::U16   ? "2^16-1"
             : column.type == hdf5::Type::U32 ? "2^32-1"
                                              : "2^64-1";
  }
  return "";
}

std::string type_text(const Column& column) {
  constexpr std::string_view kWidths[] = {"", " [k]", " [V]"};
  return std::string(hdf5::name_of(column.type)) +
         std::string(kWidths[static_cast<std::size_t>(column.width)]);
}

std::string description_text(const Column& column) {
  std::string out(column.notes.description);
  const char* comma = ": ";
  for (std::size_t i = 0; i < column.notes.labels.size(); ++i, comma = ", ")
    out += comma + std::to_string(i) + " " + std::string(column.notes.labels[i]);
  return out;
}

std::string row(const Column& column) {
  return "| " + std::string(column.name) + " | " + type_text(column) + " | " +
         std::string(column.notes.unit) + " | " + missing_text(column) + " | " +
         description_text(column) + " |\n";
}

}  // namespace

std::string markdown() {
  std::string out;
  for (const TableView& table : tables()) {
    out += "**" + std::string(table.facts.path) + "**: " + std::string(table.facts.description);
    if (table.facts.from != Level::COUNTS)
      out += " (from level " + std::string(name_of(table.facts.from)) + ")";
    out += "\n\n| column | type | unit | missing | content |\n| --- | --- | --- | --- | --- |\n";
    for (const Column& column : table.columns) out += row(column);
    out += "\n";
  }
  for (const Ragged& list : token_lists())
    out += "**" + std::string(list.path) + "**: " + std::string(list.description) +
           "; list i is data[indptr[i]:indptr[i + 1]], data u32, indptr u64\n\n";
  out.pop_back();  // one line break ends the text
  return out;
}

}  // namespace redline::trace::schema
