// SPDX-License-Identifier: Apache-2.0
// The KV pages of one model: a fixed arena, handed out and taken back page by page. Knows nothing
// of tokens or sequences. A page holds, per layer, K then V as [kv_head, 16, head_size] in F16.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace redline::kv {

inline constexpr std::int32_t kPageTokens = 16;
using PageId = std::int32_t;

struct KvShape {
  std::int32_t layers = 0, kv_heads = 0, head_size = 0;
  std::int64_t layer_bytes() const {  // K and V of one layer in one page
    return std::int64_t{2} * kv_heads * kPageTokens * head_size * 2;
  }
  std::int64_t page_bytes() const { return layers * layer_bytes(); }
  bool operator==(const KvShape&) const = default;
};

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
