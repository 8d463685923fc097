// SPDX-License-Identifier: Apache-2.0
// The trace schema as data: every table and column once, with the accessor that fills it. Creating,
// appending, checking and the table in docs/traces.md all read this. Adding a column raises the
// minor version; removing or redefining one raises the major.
#pragma once
#include <cstddef>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "trace/hdf5.hpp"
#include "trace/records.hpp"

namespace redline::trace::schema {

inline constexpr std::int32_t kMajor = 1, kMinor = 2;
inline constexpr std::string_view kFormat = "redline-trace";
inline constexpr std::string_view kVersion = "1.2";

enum class Width : std::uint8_t { SCALAR, TOPK, VOCAB };  // values a row
enum class Missing : std::uint8_t { NEVER, NOT_A_NUMBER, MINUS_ONE, MAXIMUM };
std::string_view name_of(Level level);

struct Notes {                 // what a column says of itself
  std::string_view unit = "";  // "" for names and codes
  Missing missing = Missing::NEVER;
  std::string_view description = "";
  std::span<const std::string_view> labels = {};  // of a code, in order
  Level from = Level::COUNTS;                     // the lowest level that stores it
  std::int32_t since = 0;                         // the minor version that brought it
};
struct Column {
  std::string_view name;
  hdf5::Type type;
  Width width;
  Notes notes;
};
struct TableFacts {
  std::string_view path;
  std::uint32_t chunk_rows;  // of a VOCAB column: 1
  Level from;
  std::string_view description;
};

using Bytes = std::vector<std::byte>;
template <class Row>
struct Field {
  Column column;
  void (*put)(const Row& row, Bytes& out);  // appends the row's value or values
};
template <class Row>
struct Table {
  TableFacts facts;
  std::vector<Field<Row>> fields;
};
struct Ragged {  // lists of token ids, one a row of /requests: CSR
  std::string_view path, description;
  const std::vector<Token>& (*of)(const RequestRecord& request);
};

// What a row of each table is made of: a record, and what only its place in the file tells.
struct StepRow {
  const StepRecord& record;
  std::uint64_t node_start, decision_start, logit_start, answer_start;
};
struct AnswerRow {
  const AnswerRecord& record;
  std::uint64_t step_row;
};
struct DecisionRow {
  const DecisionRecord& record;
  std::uint64_t step_row;
};
struct LogitsRow {
  const LogitsRecord& record;
  std::uint64_t step_row;
  std::int32_t topk;
};
struct FullRow {
  const LogitsRecord& record;
  std::uint64_t row;
};
inline constexpr std::uint64_t kNoRow = std::numeric_limits<std::uint64_t>::max();

const Table<RequestRecord>& requests();
const Table<BatchRecord>& batches();
const Table<StepRow>& steps();
const Table<AnswerRow>& answers();
const Table<NodeRecord>& nodes();
const Table<DecisionRow>& decisions();
const Table<LogitsRow>& target_logits();
const Table<LogitsRow>& draft_logits();
const Table<FullRow>& target_full();
const Table<FullRow>& draft_full();
const Table<KvRecord>& kv();
const Table<EventRecord>& events();
std::span<const Ragged> token_lists();

// All tables without their accessors, in the order of the document.
struct TableView {
  TableFacts facts;
  std::vector<Column> columns;
};
std::vector<TableView> tables();
std::string markdown();  // the table of docs/traces.md

// Makes a field of an accessor: its return type is the column's type; a vector makes a wide column.
template <class T>
constexpr hdf5::Type type_of() {
  using hdf5::Type;
  if constexpr (std::is_same_v<T, bool>)
    return Type::BOOL;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return Type::U8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return Type::U16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return Type::U32;
  else if constexpr (std::is_same_v<T, std::uint64_t>)
    return Type::U64;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return Type::I16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Type::I32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return Type::I64;
  else if constexpr (std::is_same_v<T, _Float16>)
    return Type::F16;
  else if constexpr (std::is_same_v<T, float>)
    return Type::F32;
  else {
    static_assert(std::is_same_v<T, double>, "no column type for this accessor");
    return Type::F64;
  }
}
inline void put_bytes(Bytes& out, const void* from, std::size_t size) {
  const std::size_t at = out.size();
  out.resize(at + size);
  if (size != 0) std::memcpy(out.data() + at, from, size);
}
template <class Row, class Get>
Field<Row> field(std::string_view name, Get, Notes notes) {  // Get: a lambda without captures
  using Value = std::invoke_result_t<Get, const Row&>;
  constexpr auto put = [](const Row& row, Bytes& out) {
    const Value value = Get{}(row);
    put_bytes(out, &value, sizeof value);
  };
  return {{name, type_of<Value>(), Width::SCALAR, notes}, put};
}
template <class Row, class Get>
Field<Row> wide_field(std::string_view name, Width width, Get, Notes notes) {
  using Values = std::invoke_result_t<Get, const Row&>;  // a vector of the column's width
  using Value = typename Values::value_type;
  constexpr auto put = [](const Row& row, Bytes& out) {
    const Values values = Get{}(row);
    put_bytes(out, values.data(), values.size() * sizeof(Value));
  };
  return {{name, type_of<Value>(), width, notes}, put};
}

}  // namespace redline::trace::schema
