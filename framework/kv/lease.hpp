// SPDX-License-Identifier: Apache-2.0
// Tentative slots of one sequence in one model for one step: reserve, then commit the rows that
// stay, or roll back by destruction. Slots are [tokens, tokens + rows); commit compacts the kept
// slots into the positions right behind the committed tokens and returns what is left over. All
// pages under these slots have the cache as their only holder. A cache has one lease at a time and
// outlives it.
#pragma once
#include <optional>
#include <span>

#include "kv/cache.hpp"

namespace redline::kv {

class Lease {
 public:
  // Nothing when the pool cannot give the pages.
  static std::optional<Lease> reserve(Cache& cache, std::int32_t rows);
  Lease(Lease&& other) noexcept;
  Lease& operator=(Lease&&) = delete;
  ~Lease();  // not committed: all tentative pages go back

  std::int32_t first_slot() const { return first_; }
  std::int32_t rows() const { return rows_; }
  // More tentative slots (a drafter that grows while it drafts). False when pages run out.
  bool extend(std::int32_t rows);
  // kept: slots in position order, each >= first_slot(), strictly rising along the path.
  void commit(std::span<const std::int32_t> kept);
  Cache& cache() const { return *cache_; }

 private:
  Lease(Cache& cache, std::int32_t rows);
  void close();  // returns the pages behind the committed tokens
  Cache* cache_;
  std::int32_t first_ = 0, rows_ = 0;
  bool open_ = false;  // neither committed nor moved from
};

}  // namespace redline::kv
