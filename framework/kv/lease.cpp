// SPDX-License-Identifier: Apache-2.0
#include "kv/lease.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "redline/error.hpp"

namespace redline::kv {
namespace {

// K and V of one slot, all layers: page [layer][K, V][kv_head][16][head_size] of F16.
void copy_slot(const KvShape& shape, const std::byte* from_page, std::byte* to_page,
               std::int32_t from, std::int32_t to) {
  const std::size_t slot_bytes = std::size_t{2} * shape.head_size;
  const std::size_t block_bytes = kPageTokens * slot_bytes;
  const std::int64_t blocks = std::int64_t{shape.layers} * 2 * shape.kv_heads;
  from_page += (from % kPageTokens) * slot_bytes;
  to_page += (to % kPageTokens) * slot_bytes;
  for (std::int64_t i = 0; i < blocks; ++i, from_page += block_bytes, to_page += block_bytes)
    std::memcpy(to_page, from_page, slot_bytes);
}

}  // namespace

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
    if (from != to)
      copy_slot(cache_->pool_->shape(), cache_->addresses_[from / kPageTokens],
                cache_->addresses_[to / kPageTokens], from, to);
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
