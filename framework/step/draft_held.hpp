// SPDX-License-Identifier: Apache-2.0
// What a draft model holds of a sequence while it drafts.
#pragma once
#include <algorithm>

#include "step/draft_model.hpp"

namespace redline::step {

struct DraftModel::Fed {
  std::int32_t parent;
  Token token;
  Chain::Path memory;            // the root's is Held::memory
  List<redline::Row> rows = {};  // [heads] the distributions that follow; empty until fed
  List<float> raw = {};          // [heads, V] their logits, when kept
};

struct DraftModel::Held {
  Held(kv::PagePool& pool, const Chain& links, const kv::PageTable* of_target)
      : cache(pool), chain(links), features(of_target) {}
  kv::Cache cache;
  const Chain& chain;
  const kv::PageTable* features;   // of the target, for a model that reads them
  std::optional<kv::Lease> lease;  // declared after the cache it borrows
  Chain::Path memory;              // after all committed tokens
  std::vector<Token> tokens;       // the committed tokens
  List<Fed> fed;                   // [0] is the root; parents precede children; empty between steps
  std::int32_t fill_to = 0;        // committed tokens that the lease was taken for, by reserve_fill
  bool fill_failed = false;        // in this step
  std::int32_t caught_up = 0;      // committed tokens fed in this step, the root not among them
  const Draft* block = nullptr;    // that the fed rows are of, in a model of blocks

  std::int32_t root() const { return static_cast<std::int32_t>(tokens.size()) - 1; }
  std::int32_t child(std::int32_t parent, Token token) const {  // or -1
    for (auto k = static_cast<std::int32_t>(fed.size()) - 1; k > 0; --k)
      if (fed[k].parent == parent && fed[k].token == token) return k;
    return -1;
  }
  std::int32_t find(std::span<const Token> path) const {  // or -1
    std::int32_t at = fed.empty() ? -1 : 0;
    for (std::size_t k = 0; k < path.size() && at >= 0; ++k) at = child(at, path[k]);
    return at;
  }
  List<std::int32_t> line(std::int32_t k) const {  // slots from below the root to k
    List<std::int32_t> slots;
    for (; k > 0; k = fed[k].parent) slots.push_back(root() + k);
    std::reverse(slots.begin(), slots.end());
    return slots;
  }
};

// A row a forward feeds: a committed token before the root (index -1) or an entry of Held::fed.
struct DraftModel::Due {
  Held* held;
  std::int32_t index, position;
  std::int32_t depth() const { return index < 0 ? 0 : position - held->root(); }
};

}  // namespace redline::step
