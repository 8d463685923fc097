// SPDX-License-Identifier: Apache-2.0
#include "kv/cache.hpp"

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
  if (other.leased_) std::terminate();  // the lease holds the other's address
}

void Cache::truncate(std::int32_t tokens) {
  if (leased_) throw Error("kv cache: truncated to " + std::to_string(tokens) + " during a lease");
  if (tokens < 0 || tokens > tokens_)
    throw Error("kv cache: truncated to " + std::to_string(tokens) + " tokens, it holds " +
                std::to_string(tokens_));
  tokens_ = tokens;
  drop_pages(pages_for(tokens));
}

void Cache::clear() { truncate(0); }

bool Cache::grow(std::int64_t slots) {
  const std::int64_t more = pages_for(slots) - static_cast<std::int64_t>(ids_.size());
  if (more <= 0) return true;
  if (more > pool_->available()) return false;
  ids_.reserve(ids_.size() + more);
  addresses_.reserve(ids_.size() + more);
  pool_->take(static_cast<std::int32_t>(more), ids_);
  for (std::size_t i = addresses_.size(); i < ids_.size(); ++i)
    addresses_.push_back(pool_->data(ids_[i]));
  return true;
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
