// SPDX-License-Identifier: Apache-2.0
#include "kv/cache.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "redline/error.hpp"

namespace redline::kv {

Cache::~Cache() {
  if (leased_) std::terminate();  // the lease would write into pages of others
  drop_pages(0);
}

Cache::Cache(Cache&& other) noexcept : PageTable(other.shape_), pool_(other.pool_) {
  ids_ = std::exchange(other.ids_, {});
  addresses_ = std::exchange(other.addresses_, {});
  tokens_ = std::exchange(other.tokens_, 0);
  published_ = std::exchange(other.published_, 0);
  if (other.leased_) std::terminate();  // the lease holds the other's address
}

void Cache::truncate(std::int32_t tokens) {
  if (leased_) throw Error("kv cache: truncated to " + std::to_string(tokens) + " during a lease");
  if (tokens < 0 || tokens > tokens_)
    throw Error("kv cache: truncated to " + std::to_string(tokens) + " tokens, it holds " +
                std::to_string(tokens_));
  tokens_ = tokens;
  published_ = std::min(published_, tokens / kPageTokens);
  drop_pages(pages_for(tokens));
}

void Cache::clear() { truncate(0); }

void Cache::expect(std::int32_t tokens) {
  ids_.reserve(pages_for(tokens));
  addresses_.reserve(pages_for(tokens));
}

bool Cache::grow(std::int64_t slots) {
  const bool moves_tail = slots > tokens_ && tail_is_shared();
  const std::int64_t more = std::max<std::int64_t>(pages_for(slots) - std::ssize(ids_), 0);
  if (more + moves_tail > pool_->total()) return false;
  if (!pool_->take(static_cast<std::int32_t>(more + moves_tail), ids_)) return false;
  if (moves_tail) {
    const PageId own = ids_.back();
    ids_.pop_back();
    own_tail(own);
  }
  for (std::size_t i = addresses_.size(); i < ids_.size(); ++i)
    addresses_.push_back(pool_->data(ids_[i]));
  return true;
}

bool Cache::tail_is_shared() const {
  return tokens_ % kPageTokens != 0 && pool_->holders(ids_[tokens_ / kPageTokens]) > 1;
}

void Cache::own_tail(PageId page) {
  const std::int32_t tail = tokens_ / kPageTokens;
  const PageId shared = ids_[tail];
  for (std::int32_t slot = 0; slot < tokens_ % kPageTokens; ++slot)
    pool_->copy_slot({.from_page = shared, .to_page = page, .from = slot, .to = slot});
  ids_[tail] = page;
  addresses_[tail] = pool_->data(page);
  pool_->give_back(shared);
}

void Cache::copy_slot(std::int32_t from, std::int32_t to) {
  pool_->copy_slot({.from_page = ids_[from / kPageTokens],
                    .to_page = ids_[to / kPageTokens],
                    .from = from % kPageTokens,
                    .to = to % kPageTokens});
}

void Cache::adopt(std::span<const PageId> pages) {
  ids_.reserve(pages.size());
  addresses_.reserve(pages.size());
  for (const PageId page : pages) {
    pool_->retain(page);
    ids_.push_back(page);
    addresses_.push_back(pool_->data(page));
  }
  tokens_ = static_cast<std::int32_t>(std::ssize(pages)) * kPageTokens;
}

void Cache::drop_pages(std::size_t keep) {
  while (ids_.size() > keep) {
    const PageId id = ids_.back();
    ids_.pop_back();
    addresses_.pop_back();
    pool_->give_back(id);
  }
}

}  // namespace redline::kv
