// SPDX-License-Identifier: Apache-2.0
// Which pages hold the slots of one sequence, and how many slots are committed: what a forward
// needs of a cache. On rank 0 a Cache is one; the other ranks keep copies of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kv/kv_shape.hpp"

namespace redline::kv {

class PageTable {
 public:
  explicit PageTable(const KvShape& shape) : shape_(shape) {}
  const KvShape& shape() const { return shape_; }
  std::int32_t tokens() const { return tokens_; }  // committed: slots [0, tokens) are valid
  std::span<std::byte* const> pages() const { return addresses_; }  // of slots, tentative ones too
  std::span<const PageId> page_ids() const { return ids_; }

 protected:
  KvShape shape_;
  std::vector<PageId> ids_;
  std::vector<std::byte*> addresses_;  // of ids_, in this rank's pool
  std::int32_t tokens_ = 0;
};

}  // namespace redline::kv
