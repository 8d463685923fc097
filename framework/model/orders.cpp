// SPDX-License-Identifier: Apache-2.0
#include "model/orders.hpp"

#include <algorithm>

#include "redline/error.hpp"

namespace redline::model {
namespace {

void put_table(OrderWriter& writer, const kv::PageTable& table) {
  writer.put(table.tokens());
  writer.put_list(table.page_ids());
}

void put_options(OrderWriter& writer, const LoadOptions& options) {
  writer.put_text(options.cache_folder.string());
  writer.put(options.max_rows);
  writer.put(options.max_wanted);
  writer.put(options.max_positions);
  writer.put_list(std::span(options.taps));
  writer.put(options.kv_type);
  writer.put(options.requantize);
  writer.put_list(std::span(options.head_tokens));
}

LoadOptions read_options(files::ByteCursor& cursor) {
  LoadOptions options;
  options.cache_folder = cursor.read_text("cache folder");
  options.max_rows = cursor.read<std::int32_t>("rows");
  options.max_wanted = cursor.read<std::int32_t>("wanted rows");
  options.max_positions = cursor.read<std::int32_t>("positions");
  read_list(cursor, options.taps, "taps");
  options.kv_type = cursor.read<kernels::KvType>("KV type");
  options.requantize = cursor.read<Requantize>("requantize");
  read_list(cursor, options.head_tokens, "head tokens");
  return options;
}

}  // namespace

void OrderWriter::append(std::span<const std::byte> more) {
  const std::size_t size = bytes_.size();
  bytes_.resize(size + more.size());
  std::copy(more.begin(), more.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(size));
}

void put(OrderWriter& writer, const OpenOrder& order) {
  writer.put_text(order.file.string());
  writer.put(order.degree);
  writer.put(order.pages);
  put_options(writer, order.options);
}

OpenOrder read_open(files::ByteCursor& cursor) {
  OpenOrder order;
  order.file = cursor.read_text("model");
  order.degree = cursor.read<std::int32_t>("degree");
  order.pages = cursor.read<std::int32_t>("pages");
  order.options = read_options(cursor);
  return order;
}

void put(OrderWriter& writer, const OpenModuleOrder& order) {
  writer.put_text(order.file.string());
  writer.put(order.target);
  writer.put_list(std::span<const std::byte>(to_bytes(order.graph)));
  writer.put_list(std::span(order.taps));
  writer.put(order.pages);
  put_options(writer, order.options);
}

OpenModuleOrder read_open_module(files::ByteCursor& cursor) {
  OpenModuleOrder order;
  order.file = cursor.read_text("module");
  order.target = cursor.read<std::uint32_t>("target");
  std::vector<std::byte> graph;
  read_list(cursor, graph, "graph");
  order.graph = graph_of_bytes(graph);
  read_list(cursor, order.taps, "taps");
  order.pages = cursor.read<std::int32_t>("pages");
  order.options = read_options(cursor);
  return order;
}

void put(OrderWriter& writer, const Batch& batch) {
  writer.put_list(std::span(batch.rows));
  writer.put_list(std::span(batch.tail));
  writer.put_list(std::span(batch.taps));
  writer.put(std::uint64_t{batch.segments.size()});
  for (const Segment& segment : batch.segments) {
    writer.put(segment.row_begin);
    writer.put(segment.row_end);
    put_table(writer, *segment.cache);
    writer.put(segment.features != nullptr);
    if (segment.features) put_table(writer, *segment.features);
  }
}

const Batch& ReceivedBatch::read(files::ByteCursor& cursor, const kv::PagePool& pool,
                                 const kv::PagePool* features) {
  used_ = 0;
  batch_.segments.clear();
  read_list(cursor, batch_.rows, "rows");
  read_list(cursor, batch_.tail, "tail");
  read_list(cursor, batch_.taps, "taps");
  const auto count = cursor.read<std::uint64_t>("segments");
  for (std::uint64_t i = 0; i < count; ++i) {
    Segment segment{};
    segment.row_begin = cursor.read<std::int32_t>("segment");
    segment.row_end = cursor.read<std::int32_t>("segment");
    segment.cache = read_table(cursor, pool);
    if (cursor.read<bool>("features")) {
      if (!features) throw Error("a segment with features of a model that reads none");
      segment.features = read_table(cursor, *features);
    }
    batch_.segments.push_back(segment);
  }
  return batch_;
}

const kv::PageTable* ReceivedBatch::read_table(files::ByteCursor& cursor,
                                               const kv::PagePool& pool) {
  const auto tokens = cursor.read<std::int32_t>("committed tokens");
  read_list(cursor, ids_, "pages");
  if (used_ == tables_.size()) tables_.push_back(std::make_unique<kv::TableCopy>(pool.shape()));
  kv::TableCopy& table = *tables_[used_++];
  if (table.shape() != pool.shape()) table = kv::TableCopy(pool.shape());
  table.set(pool, ids_, tokens);
  return &table;
}

}  // namespace redline::model
