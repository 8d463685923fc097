// SPDX-License-Identifier: Apache-2.0
// Another rank's copy of a Cache's table: the same page numbers, in the pool of this rank. It holds
// no pages: rank 0's cache does.
#pragma once
#include "kv/page_pool.hpp"
#include "kv/page_table.hpp"

namespace redline::kv {

class TableCopy final : public PageTable {
 public:
  using PageTable::PageTable;
  // Error on a pool of another shape, a page it does not have, or more tokens than slots.
  void set(const PagePool& pool, std::span<const PageId> ids, std::int32_t tokens);
};

}  // namespace redline::kv
