// SPDX-License-Identifier: Apache-2.0
// The KV of one sequence in one model: its pages, and how many of its tokens they hold. Grows only
// through a Lease.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kv/page_pool.hpp"

namespace redline::kv {

class Cache {
 public:
  explicit Cache(PagePool& pool) : pool_(&pool) {}
  ~Cache();
  Cache(Cache&& other) noexcept;
  Cache& operator=(Cache&&) = delete;
  Cache(const Cache&) = delete;  // pages have one owner

  PagePool& pool() const { return *pool_; }
  std::int32_t tokens() const { return tokens_; }  // committed: slots [0, tokens) are valid
  std::span<std::byte* const> pages() const { return addresses_; }  // of slots, tentative ones too
  std::span<const PageId> page_ids() const { return ids_; }
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
  std::vector<PageId> ids_;
  std::vector<std::byte*> addresses_;
  std::int32_t tokens_ = 0;
  bool leased_ = false;
};

}  // namespace redline::kv
