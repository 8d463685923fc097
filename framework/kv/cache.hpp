// SPDX-License-Identifier: Apache-2.0
// The KV of one sequence in one model: its pages, and how many of its tokens they hold. Grows only
// through a Lease, or by pages of a PrefixCache while empty. Full pages may have other holders too.
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
  Cache(const Cache&) = delete;  // each page is held once by a cache

  PagePool& pool() const { return *pool_; }
  // Drops the tail and gives back its pages; a page of others that stays in part is replaced by a
  // copy when a lease would write into it. Error during a lease; to move or destroy a leased cache
  // ends the program, for its pages would be written after they went to another.
  void truncate(std::int32_t tokens);
  void clear();
  void expect(std::int32_t tokens);  // the lists of its pages need not grow up to so many

 private:
  friend class Lease;
  friend class PrefixCache;
  static std::int64_t pages_for(std::int64_t slots) {
    return (slots + kPageTokens - 1) / kPageTokens;
  }
  // Pages for so many slots, all behind the committed tokens held by this cache alone: all or
  // nothing.
  bool grow(std::int64_t slots);
  bool tail_is_shared() const;  // the page that committed tokens fill in part
  void own_tail(PageId page);   // moves what it holds to a page of ours
  void copy_slot(std::int32_t from, std::int32_t to);
  void adopt(
      std::span<const PageId> pages);  // full ones, as the committed tokens of an empty cache
  void drop_pages(std::size_t keep);

  PagePool* pool_;
  bool leased_ = false;
  std::int32_t published_ = 0;  // leading pages that the PrefixCache has seen
};

}  // namespace redline::kv
