// SPDX-License-Identifier: Apache-2.0
#include "trace/table_writer.hpp"

namespace redline::trace {
namespace {

using hdf5::Type;
constexpr std::size_t kBlockBytes = 1
                                    << 20;  // a column this long is appended before its chunk fills

template <class T>
void describe_missing_number(const hdf5::Object& column, Type type, schema::Missing missing) {
  T value = std::numeric_limits<T>::max();
  if (missing == schema::Missing::MINUS_ONE) value = static_cast<T>(-1);
  if (missing == schema::Missing::NOT_A_NUMBER) value = std::numeric_limits<T>::quiet_NaN();
  column.attribute("missing", type, &value);
}

void describe_missing(const hdf5::Object& column, Type type, schema::Missing missing) {
  if (missing == schema::Missing::NEVER) return;
  switch (type) {
    case Type::U16:
      return describe_missing_number<std::uint16_t>(column, type, missing);
    case Type::U32:
      return describe_missing_number<std::uint32_t>(column, type, missing);
    case Type::U64:
      return describe_missing_number<std::uint64_t>(column, type, missing);
    case Type::I16:
      return describe_missing_number<std::int16_t>(column, type, missing);
    case Type::I32:
      return describe_missing_number<std::int32_t>(column, type, missing);
    case Type::I64:
      return describe_missing_number<std::int64_t>(column, type, missing);
    case Type::F32:
      return describe_missing_number<float>(column, type, missing);
    case Type::F64:
      return describe_missing_number<double>(column, type, missing);
    default:
      throw Error("schema: no missing value for type " + std::string(name_of(type)));
  }
}

void describe(const hdf5::Object& object, std::string_view encoding, std::string_view description) {
  object.attribute("encoding-type", encoding);
  object.attribute("encoding-version", schema::kVersion);
  object.attribute("description", description);
}

hdf5::Dataset make_column(hdf5::File& file, const schema::TableFacts& facts,
                          const schema::Column& column, Layout layout) {
  const std::string path = std::string(facts.path) + "/" + std::string(column.name);
  const std::uint64_t chunk = column.width == schema::Width::VOCAB ? 1 : facts.chunk_rows;
  hdf5::Dataset made = file.dataset(path, column.type, chunk, layout.width(column.width));
  describe(made, "array", column.notes.description);
  if (!column.notes.unit.empty()) made.attribute("units", column.notes.unit);
  describe_missing(made, column.type, column.notes.missing);
  if (!column.notes.labels.empty()) {
    const std::vector<std::string> labels(column.notes.labels.begin(), column.notes.labels.end());
    made.attribute("labels", labels);
  }
  return made;
}

std::span<const std::byte> bytes_of(const auto& values) { return std::as_bytes(std::span(values)); }

}  // namespace

std::int64_t Layout::width(schema::Width width) const {
  if (width == schema::Width::TOPK) return topk;
  return width == schema::Width::VOCAB ? vocab : 0;
}

TableFile::TableFile(hdf5::File& file, const schema::TableFacts& facts,
                     const std::vector<schema::Column>& columns, Layout layout)
    : chunk_rows_(facts.chunk_rows) {
  const hdf5::Object group = file.group(std::string(facts.path));
  describe(group, "table", facts.description);
  std::vector<std::string> order;
  for (const schema::Column& column : columns) order.emplace_back(column.name);
  group.attribute("column-order", order);
  for (const schema::Column& column : columns)
    slots_.push_back({make_column(file, facts, column, layout), {}});
}

void TableFile::row_added() {
  ++rows_, ++pending_rows_;
  // Whole chunks where columns are narrow; what is left follows at the next flush.
  const bool wide = slots_.back().pending.size() >= kBlockBytes;
  if (wide || rows_ % chunk_rows_ == 0) append();
}

void TableFile::append() {
  if (pending_rows_ == 0) return;
  for (Slot& slot : slots_) {
    slot.dataset.append(slot.pending);
    slot.pending.clear();
  }
  pending_rows_ = 0, dirty_ = true;
}

void TableFile::flush() {
  append();
  if (!dirty_) return;
  for (Slot& slot : slots_) slot.dataset.flush();
  dirty_ = false;
}

void TableFile::abandon() {
  for (Slot& slot : slots_) slot.dataset.abandon();
}

RaggedWriter::RaggedWriter(hdf5::File& file, const schema::Ragged& ragged)
    : ragged_(ragged),
      data_(file.dataset(std::string(ragged.path) + "/data", Type::U32, 8192, 0)),
      indptr_(file.dataset(std::string(ragged.path) + "/indptr", Type::U64, 1024, 0)) {
  describe(file.group(std::string(ragged.path)), "ragged", ragged.description);
  describe(data_, "array", "all lists, one behind the other");
  describe(indptr_, "array", "list i is data[indptr[i]:indptr[i + 1]]");
  const std::uint64_t begin[] = {0};
  indptr_.append(bytes_of(begin));
}

void RaggedWriter::add(const RequestRecord& request) {
  const std::vector<Token>& tokens = ragged_.of(request);
  const std::uint64_t end[] = {end_ += tokens.size()};
  data_.append(bytes_of(tokens));
  indptr_.append(bytes_of(end));
}
void RaggedWriter::flush() { data_.flush(), indptr_.flush(); }
void RaggedWriter::abandon() { data_.abandon(), indptr_.abandon(); }

}  // namespace redline::trace
