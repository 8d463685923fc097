// SPDX-License-Identifier: Apache-2.0
#include "kv/lease.hpp"

#include <string>
#include <utility>

#include "redline/error.hpp"

namespace redline::kv {
std::optional<Lease> Lease::reserve(Cache& cache, std::int32_t rows) {
  if (rows < 0) throw Error("kv lease: " + std::to_string(rows) + " rows asked for");
  if (cache.leased_) throw Error("kv lease: the cache is leased already");
  if (!cache.grow(std::int64_t{cache.tokens_} + rows)) return std::nullopt;
  return Lease(cache, rows);
}

Lease::Lease(Cache& cache, std::int32_t rows)
    : cache_(&cache), first_(cache.tokens_), rows_(rows), open_(true) {
  cache.leased_ = true;
}

Lease::Lease(Lease&& other) noexcept
    : cache_(other.cache_),
      first_(other.first_),
      rows_(other.rows_),
      open_(std::exchange(other.open_, false)) {}

Lease::~Lease() {
  if (open_) close();
}

bool Lease::extend(std::int32_t rows) {
  if (!open_ || rows < 0)
    throw Error(open_ ? "kv lease: extended by " + std::to_string(rows) + " rows"
                      : "kv lease: extended after its end");
  if (!cache_->grow(std::int64_t{first_} + rows_ + rows)) return false;
  rows_ += rows;
  return true;
}

void Lease::commit(std::span<const std::int32_t> kept) {
  if (!open_) throw Error("kv lease: committed after its end");
  std::int32_t least = first_;
  for (const std::int32_t slot : kept) {
    if (slot < least || slot >= first_ + rows_)
      throw Error("kv lease: slot " + std::to_string(slot) + " kept, expected one of [" +
                  std::to_string(least) + ", " + std::to_string(first_ + rows_) + ")");
    least = slot + 1;
  }
  // A slot moves down or stays, and in rising order: nothing is overwritten before it is read.
  std::int32_t to = first_;
  for (const std::int32_t from : kept) {
    if (from != to) cache_->copy_slot(from, to);
    ++to;
  }
  cache_->tokens_ = to;
  close();
}

void Lease::close() {
  open_ = false;
  cache_->leased_ = false;
  cache_->truncate(cache_->tokens_);
}

}  // namespace redline::kv
