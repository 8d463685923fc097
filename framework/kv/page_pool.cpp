// SPDX-License-Identifier: Apache-2.0
#include "kv/page_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "redline/error.hpp"

namespace redline::kv {
namespace {

constexpr std::int64_t kGuardBytes = 4096;
// Two of these are an F16 NaN: whatever reads a guard or a page that is not out shows it.
constexpr std::byte kPoison{0xFF};

bool poisoned(const std::byte* at, std::int64_t bytes) {
  return std::all_of(at, at + bytes, [](std::byte b) { return b == kPoison; });
}

}  // namespace

struct PagePool::Impl {
  std::byte* arena = nullptr;  // guard: [gap, page, gap, page, ..., gap]
  std::int64_t arena_bytes = 0, stride = 0, first = 0;
  bool guard = false;
  std::vector<PageId> free_pages;  // the last one goes out first
  std::vector<bool> is_out;        // [pages]
  std::byte* page(PageId id) const { return arena + first + id * stride; }
};

PagePool::PagePool(KvShape shape, std::int32_t pages, bool guard)
    : shape_(shape), impl_(std::make_unique<Impl>()) {
  if (shape.layers <= 0 || shape.kv_heads <= 0 || shape.head_size <= 0 || pages < 0)
    throw Error("page pool: " + std::to_string(pages) + " pages of " +
                std::to_string(shape.layers) + " layers, " + std::to_string(shape.kv_heads) +
                " kv heads, head size " + std::to_string(shape.head_size));
  const std::int64_t gap = guard ? kGuardBytes : 0;
  impl_->guard = guard;
  impl_->first = gap;
  impl_->stride = shape.page_bytes() + gap;
  impl_->arena_bytes = pages * impl_->stride + gap;
  impl_->is_out.assign(pages, false);
  for (PageId id = pages - 1; id >= 0; --id) impl_->free_pages.push_back(id);
  if (impl_->arena_bytes == 0) return;
  void* arena = ::mmap(nullptr, impl_->arena_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (arena == MAP_FAILED)
    throw DeviceError("page pool: no room for " + std::to_string(impl_->arena_bytes) +
                      " bytes of KV: " + std::strerror(errno) +
                      "; ask for fewer sequences or a shorter context");
  impl_->arena = static_cast<std::byte*>(arena);
  if (guard) std::fill_n(impl_->arena, impl_->arena_bytes, kPoison);
}

PagePool::~PagePool() {
  if (impl_->arena) ::munmap(impl_->arena, impl_->arena_bytes);
}

std::int32_t PagePool::total() const { return static_cast<std::int32_t>(impl_->is_out.size()); }
std::int32_t PagePool::available() const {
  return static_cast<std::int32_t>(impl_->free_pages.size());
}

bool PagePool::take(std::int32_t count, std::vector<PageId>& out) {
  if (count > available()) return false;
  if (count <= 0) return true;
  out.reserve(out.size() + count);  // nothing is out if this throws
  for (std::int32_t i = 0; i < count; ++i) {
    const PageId id = impl_->free_pages.back();
    impl_->free_pages.pop_back();
    impl_->is_out[id] = true;
    out.push_back(id);
  }
  return true;
}

void PagePool::give_back(PageId page) {
  if (page < 0 || page >= total() || !impl_->is_out[page])
    throw Error("page pool: page " + std::to_string(page) + " of " + std::to_string(total()) +
                " came back but is not out");
  impl_->is_out[page] = false;
  impl_->free_pages.push_back(page);  // within the capacity of the constructor
  if (impl_->guard) std::fill_n(impl_->page(page), shape_.page_bytes(), kPoison);
}

std::byte* PagePool::data(PageId page) const { return impl_->page(page); }

bool PagePool::guards_intact() const {
  if (!impl_->guard) return true;
  if (!poisoned(impl_->arena, kGuardBytes)) return false;
  for (PageId id = 0; id < total(); ++id) {
    if (!poisoned(impl_->page(id) + shape_.page_bytes(), kGuardBytes)) return false;
    if (!impl_->is_out[id] && !poisoned(impl_->page(id), shape_.page_bytes())) return false;
  }
  return true;
}

}  // namespace redline::kv
