// SPDX-License-Identifier: Apache-2.0
// The KV pages of one model: a fixed arena, handed out and taken back page by page. Knows nothing
// of tokens or sequences.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kv/kv_shape.hpp"

namespace redline::kv {

class PagePool {
 public:
  // guard: poisoned pages before and after the arena and around each page, checked by
  // guards_intact()
  PagePool(KvShape shape, std::int32_t pages, bool guard = false);
  ~PagePool();
  PagePool(const PagePool&) = delete;  // leases and tables hold its address

  const KvShape& shape() const { return shape_; }
  std::int32_t total() const;
  std::int32_t available() const;
  bool take(std::int32_t count, std::vector<PageId>& out);  // all or nothing; appends
  void give_back(PageId page);                              // Error when it is not out
  std::byte* data(PageId page) const;
  bool guards_intact() const;

 private:
  struct Impl;
  KvShape shape_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::kv
