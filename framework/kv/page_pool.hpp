// SPDX-License-Identifier: Apache-2.0
// The KV pages of one model on one rank: a fixed arena, handed out page by page. Several may hold a
// page; it is free again when the last gives it back. Knows nothing of tokens or sequences. Like
// all of this room it is for one thread, the engine's: nothing here locks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "kv/kv_shape.hpp"

namespace redline::kv {

class Reclaimer;

// The contents of one slot, moved to another: slots are numbered within their pages.
struct SlotCopy {
  PageId from_page, to_page;
  std::int32_t from, to;
  bool operator==(const SlotCopy&) const = default;
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
  std::int32_t available() const;   // free pages
  std::int32_t obtainable() const;  // what take() can give: free pages and reclaimable ones
  // All or nothing; appends pages with a count of 1. Reclaims when the free pages do not suffice.
  bool take(std::int32_t count, std::vector<PageId>& out);
  void retain(PageId page);     // one holder more; Error when it is not out
  void give_back(PageId page);  // one holder less, free at none; Error when it is not out
  std::int32_t holders(PageId page) const;
  // Whom take() asks when free pages run out, until it is set to null. Error when there is one.
  void reclaim_from(Reclaimer* reclaimer);

  std::byte* data(PageId page) const;
  void copy_slot(const SlotCopy& copy);  // K, V and features
  // Told of each copy: the pools of other ranks must repeat it.
  void on_copy(std::function<void(const SlotCopy&)> observer);
  bool guards_intact() const;

 private:
  struct Impl;
  void check_out(PageId page, const char* what) const;
  KvShape shape_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::kv
