// SPDX-License-Identifier: Apache-2.0
#include "kv/table_copy.hpp"

#include <string>

#include "redline/error.hpp"

namespace redline::kv {

void TableCopy::set(const PagePool& pool, std::span<const PageId> ids, std::int32_t tokens) {
  if (pool.shape() != shape_) throw Error("kv table: its copy is set in a pool of another shape");
  if (tokens < 0 || tokens > std::ssize(ids) * kPageTokens)
    throw Error("kv table: " + std::to_string(tokens) + " tokens in " + std::to_string(ids.size()) +
                " pages of " + std::to_string(kPageTokens));
  for (const PageId id : ids)
    if (id < 0 || id >= pool.total())
      throw Error("kv table: page " + std::to_string(id) + " of a pool of " +
                  std::to_string(pool.total()));
  ids_.assign(ids.begin(), ids.end());
  addresses_.clear();
  for (const PageId id : ids) addresses_.push_back(pool.data(id));
  tokens_ = tokens;
}

}  // namespace redline::kv
