// SPDX-License-Identifier: Apache-2.0
#include "kv/page_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "kv/reclaimer.hpp"
#include "redline/error.hpp"

namespace redline::kv {
namespace {

constexpr std::int64_t kGuardBytes = 4096;
// Two of these are an F16 NaN: whatever reads a guard or a page that is not out shows it.
constexpr std::byte kPoison{0xFF};

bool poisoned(const std::byte* at, std::int64_t bytes) {
  return std::all_of(at, at + bytes, [](std::byte b) { return b == kPoison; });
}

// One number a time, for the many small ones of K.
template <class Number>
void copy_numbers(std::int64_t count, const std::byte* from, std::byte* to) {
  constexpr std::int64_t kStep = kPageTokens * sizeof(Number);
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * kStep, from + i * kStep, sizeof(Number));
}

// What one slot holds of a field goes to another slot, perhaps of the same page.
void copy_field(const kernels::KvField& field, const std::byte* from, std::int32_t from_slot,
                std::byte* to, std::int32_t to_slot) {
  from += from_slot * field.bytes;
  to += to_slot * field.bytes;
  if (field.count == 1) {
    std::memmove(to, from, field.bytes);
  } else if (field.bytes == 1) {
    copy_numbers<std::uint8_t>(field.count, from, to);
  } else if (field.bytes == 2) {
    copy_numbers<std::uint16_t>(field.count, from, to);
  } else {
    copy_numbers<std::uint32_t>(field.count, from, to);
  }
}

}  // namespace

struct PagePool::Impl {
  std::byte* arena = nullptr;  // guard: [gap, page, gap, page, ..., gap]
  std::int64_t arena_bytes = 0, stride = 0, first = 0;
  bool guard = false;
  std::vector<PageId> free_pages;     // the last one goes out first
  std::vector<std::int32_t> holders;  // [pages]; 0: free
  Reclaimer* reclaimer = nullptr;
  std::function<void(const SlotCopy&)> observer;
  std::byte* page(PageId id) const { return arena + first + id * stride; }
};

PagePool::PagePool(KvShape shape, std::int32_t pages, bool guard)
    : shape_(shape), impl_(std::make_unique<Impl>()) {
  // A learned head without attention has no layers, and perhaps nothing to keep.
  const bool has_size = shape.kv_heads > 0 && shape.head_size > 0;
  if (shape.layers < 0 || (shape.layers > 0 && !has_size) || shape.feature_floats < 0 || pages < 0)
    throw Error("page pool: " + std::to_string(pages) + " pages of " +
                std::to_string(shape.layers) + " layers, " + std::to_string(shape.kv_heads) +
                " kv heads, head size " + std::to_string(shape.head_size) + ", " +
                std::to_string(shape.feature_floats) + " feature floats");
  const std::int64_t gap = guard ? kGuardBytes : 0;
  impl_->guard = guard;
  impl_->first = gap;
  impl_->stride = shape.page_bytes() + gap;
  impl_->arena_bytes = pages * impl_->stride + gap;
  impl_->holders.assign(pages, 0);
  for (PageId id = pages - 1; id >= 0; --id) impl_->free_pages.push_back(id);
  if (impl_->arena_bytes == 0) return;
  void* arena = ::mmap(nullptr, impl_->arena_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED)
    throw DeviceError("page pool: no room for " + std::to_string(impl_->arena_bytes) +
                      " bytes of KV: " + std::strerror(errno) +
                      "; ask for fewer sequences or a shorter context");
  impl_->arena = static_cast<std::byte*>(arena);
  ::madvise(arena, impl_->arena_bytes, MADV_HUGEPAGE);  // a walk touches every page of a layer
  if (guard) std::fill_n(impl_->arena, impl_->arena_bytes, kPoison);
}

PagePool::~PagePool() {
  if (impl_->arena) ::munmap(impl_->arena, impl_->arena_bytes);
}

std::int32_t PagePool::total() const { return static_cast<std::int32_t>(impl_->holders.size()); }
std::int32_t PagePool::available() const {
  return static_cast<std::int32_t>(impl_->free_pages.size());
}
std::int32_t PagePool::obtainable() const {
  return available() + (impl_->reclaimer ? impl_->reclaimer->reclaimable() : 0);
}

bool PagePool::take(std::int32_t count, std::vector<PageId>& out) {
  if (count > obtainable()) return false;
  if (count <= 0) return true;
  if (out.capacity() < out.size() + count)  // nothing is out if this throws
    out.reserve(std::max(out.size() + count, 2 * out.capacity()));
  if (count > available()) impl_->reclaimer->reclaim(count - available());
  if (count > available())
    throw Error("page pool: " + std::to_string(count) + " pages were obtainable, " +
                std::to_string(available()) + " are free after reclaiming");
  for (std::int32_t i = 0; i < count; ++i) {
    const PageId id = impl_->free_pages.back();
    impl_->free_pages.pop_back();
    impl_->holders[id] = 1;
    out.push_back(id);
  }
  return true;
}

void PagePool::check_out(PageId page, const char* what) const {
  if (page < 0 || page >= total() || impl_->holders[page] == 0)
    throw Error("page pool: page " + std::to_string(page) + " of " + std::to_string(total()) + ' ' +
                what + " but is not out");
}

void PagePool::retain(PageId page) {
  check_out(page, "was retained");
  if (++impl_->holders[page] == 2 && impl_->reclaimer)
    impl_->reclaimer->sharing_changed(page, true);
}

void PagePool::give_back(PageId page) {
  check_out(page, "came back");
  const std::int32_t left = --impl_->holders[page];
  if (left == 1 && impl_->reclaimer) impl_->reclaimer->sharing_changed(page, false);
  if (left > 0) return;
  impl_->free_pages.push_back(page);  // within the capacity of the constructor
  if (impl_->guard) std::fill_n(impl_->page(page), shape_.page_bytes(), kPoison);
}

std::int32_t PagePool::holders(PageId page) const { return impl_->holders[page]; }

void PagePool::reclaim_from(Reclaimer* reclaimer) {
  if (reclaimer && impl_->reclaimer) throw Error("page pool: reclaims from another already");
  impl_->reclaimer = reclaimer;
}

std::byte* PagePool::data(PageId page) const { return impl_->page(page); }

void PagePool::copy_slot(const SlotCopy& copy) {
  if (std::min(copy.from_page, copy.to_page) < 0 ||
      std::max(copy.from_page, copy.to_page) >= total() || std::min(copy.from, copy.to) < 0 ||
      std::max(copy.from, copy.to) >= kPageTokens)
    throw Error("page pool: no copy from page " + std::to_string(copy.from_page) + " slot " +
                std::to_string(copy.from) + " to page " + std::to_string(copy.to_page) + " slot " +
                std::to_string(copy.to) + " among " + std::to_string(total()) + " pages of " +
                std::to_string(kPageTokens) + " slots");
  const std::byte* from = impl_->page(copy.from_page);
  std::byte* to = impl_->page(copy.to_page);
  for_each_field(shape_, [&](const kernels::KvField& field) {
    copy_field(field, from + field.offset, copy.from, to + field.offset, copy.to);
  });
  if (impl_->observer) impl_->observer(copy);
}

void PagePool::on_copy(std::function<void(const SlotCopy&)> observer) {
  impl_->observer = std::move(observer);
}

bool PagePool::guards_intact() const {
  if (!impl_->guard) return true;
  if (!poisoned(impl_->arena, kGuardBytes)) return false;
  for (PageId id = 0; id < total(); ++id) {
    if (!poisoned(impl_->page(id) + shape_.page_bytes(), kGuardBytes)) return false;
    if (impl_->holders[id] == 0 && !poisoned(impl_->page(id), shape_.page_bytes())) return false;
  }
  return true;
}

}  // namespace redline::kv
