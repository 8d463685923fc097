// SPDX-License-Identifier: Apache-2.0
// What rank 0 tells the other ranks, as bytes: ranks of one group run the same program on machines
// of one kind.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "files/byte_cursor.hpp"
#include "kv/page_pool.hpp"
#include "kv/table_copy.hpp"
#include "model/decoder.hpp"
#include "model/module_graph.hpp"

namespace redline::model {

enum class Order : std::uint32_t { OPEN, OPEN_MODULE, FORWARD, CLOSE, STOP };

struct Moved {  // a slot copied on rank 0 since the last order
  std::uint32_t model;
  kv::SlotCopy copy;
};

class OrderWriter {
 public:
  OrderWriter(Order order, std::uint32_t model) { put(order), put(model); }
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    append(std::as_bytes(std::span(&value, 1)));
  }
  template <class T>
  void put_list(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(std::uint64_t{values.size()});
    append(std::as_bytes(values));
  }
  void put_text(std::string_view text) { put_list(std::span(text)); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void append(std::span<const std::byte> more);
  std::vector<std::byte> bytes_;
};

template <class T>
void read_list(files::ByteCursor& cursor, std::vector<T>& out, std::string_view what) {
  const auto count = cursor.read<std::uint64_t>(what);
  cursor.expect(count, sizeof(T), what);
  out.resize(count);
  for (T& value : out) value = cursor.read<T>(what);
}

struct OpenOrder {
  std::filesystem::path file;
  std::int32_t degree, pages;
  LoadOptions options;  // without progress
};
void put(OrderWriter& writer, const OpenOrder& order);
OpenOrder read_open(files::ByteCursor& cursor);

struct OpenModuleOrder {
  std::filesystem::path file;
  std::uint32_t target;  // the number of its model
  ModuleGraph graph;
  std::vector<std::int32_t> taps;
  std::int32_t pages;
  LoadOptions options;  // without progress
};
void put(OrderWriter& writer, const OpenModuleOrder& order);
OpenModuleOrder read_open_module(files::ByteCursor& cursor);

void put(OrderWriter& writer, const Batch& batch);

// A batch that has been sent, over copies of its tables in the pools of this rank.
class ReceivedBatch {
 public:
  // features: of the segments that have them; may be null.
  const Batch& read(files::ByteCursor& cursor, const kv::PagePool& pool,
                    const kv::PagePool* features);

 private:
  const kv::PageTable* read_table(files::ByteCursor& cursor, const kv::PagePool& pool);
  Batch batch_;
  std::vector<kv::PageId> ids_;
  std::vector<std::unique_ptr<kv::TableCopy>> tables_;  // of any batch: kept for the next
  std::size_t used_ = 0;
};

}  // namespace redline::model
