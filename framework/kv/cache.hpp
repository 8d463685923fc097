// SPDX-License-Identifier: Apache-2.0
// The KV of one sequence in one model: its pages, and how many of its tokens they hold. Grows only
// through a Lease.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kv/page_pool.hpp"
#include "kv/page_table.hpp"

namespace redline::kv {

class Cache final : public PageTable {
 public:
  explicit Cache(PagePool& pool) : PageTable(pool.shape()), pool_(&pool) {}
  ~Cache();
  Cache(Cache&& other) noexcept;
  Cache& operator=(Cache&&) = delete;
  Cache(const Cache&) = delete;  // pages have one owner

  PagePool& pool() const { return *pool_; }
  // Drops the tail and returns its pages. Error during a lease; to move or destroy a leased cache
  // ends the program, for its pages would be written after they went to another.
  void truncate(std::int32_t tokens);
  void clear();

 private:
  friend class Lease;
  static std::int64_t pages_for(std::int64_t slots) {
    return (slots + kPageTokens - 1) / kPageTokens;
  }
  bool grow(std::int64_t slots);  // pages for so many slots: all or nothing
  void drop_pages(std::size_t keep);

  PagePool* pool_;
  bool leased_ = false;
};

}  // namespace redline::kv
