// SPDX-License-Identifier: Apache-2.0
// Runs ids through a decoder in different ways and keeps every bit that must not depend on the way:
// the logits of each position, and its K and V in every layer.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "kv/lease.hpp"
#include "kv/slot_bytes.hpp"
#include "model/decoder.hpp"

namespace redline::model {

inline bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

struct Trail {
  std::vector<std::vector<float>> logits;      // [positions][V]
  std::vector<std::vector<std::byte>> stored;  // [positions][K, V and features]
  bool operator==(const Trail& other) const {
    if (logits.size() != other.logits.size() || stored != other.stored) return false;
    for (std::size_t t = 0; t < logits.size(); ++t)
      if (logits[t].size() != other.logits[t].size() ||
          !std::equal(logits[t].begin(), logits[t].end(), other.logits[t].begin(), same_bits))
        return false;
    return true;
  }
};

inline void keep_stored(const kv::Cache& cache, Trail& trail) {
  trail.stored.clear();
  for (std::int32_t slot = 0; slot < cache.tokens(); ++slot)
    trail.stored.push_back(kv::slot_bytes(cache, slot));
}

// Rows of a chain at positions [first, first + ids), all of which want their logits.
inline std::vector<Row> chain_rows(std::span<const Token> ids, std::int32_t first) {
  std::vector<Row> rows;
  for (const Token id : ids) {
    const auto slot = first + static_cast<std::int32_t>(rows.size());
    rows.push_back(
        {.token = id, .position = slot, .slot = slot, .prefix = slot + 1, .want = Want::ROW});
  }
  return rows;
}

inline void keep_logits(const Output& output, std::size_t begin, std::size_t count, Trail& trail) {
  for (std::size_t i = begin; i < begin + count; ++i)
    trail.logits.emplace_back(output.logits[i].begin(), output.logits[i].end());
}

inline void append_chain(Forward& decoder, kv::Cache& cache, std::span<const Token> ids,
                         Trail& trail) {
  auto lease = kv::Lease::reserve(cache, static_cast<std::int32_t>(ids.size()));
  Batch batch{.rows = chain_rows(ids, lease->first_slot()), .tail = {}, .segments = {}, .taps = {}};
  batch.segments.push_back({&cache, 0, lease->rows()});
  keep_logits(decoder.forward(batch), 0, ids.size(), trail);
  std::vector<std::int32_t> slots(ids.size());
  std::iota(slots.begin(), slots.end(), lease->first_slot());
  lease->commit(slots);
}

// On a tree: before every node of the path stand `decoys` that are not on it. The path is
// committed.
inline void append_tree(Forward& decoder, kv::Cache& cache, std::span<const Token> ids,
                        std::int32_t decoys, Trail& trail) {
  const auto prefix = cache.tokens(), depth = static_cast<std::int32_t>(ids.size());
  auto lease = kv::Lease::reserve(cache, depth * (1 + decoys));
  Batch batch;
  std::vector<std::int32_t> path;
  const auto add = [&](Token token, std::int32_t level) {
    const auto slot = prefix + static_cast<std::int32_t>(batch.rows.size());
    const auto begin = static_cast<std::int32_t>(batch.tail.size());
    batch.tail.insert(batch.tail.end(), path.begin(), path.begin() + level);
    batch.tail.push_back(slot);
    batch.rows.push_back({.token = token,
                          .position = prefix + level,
                          .slot = slot,
                          .prefix = prefix,
                          .tail_begin = begin,
                          .tail_end = static_cast<std::int32_t>(batch.tail.size()),
                          .want = Want::ROW});
    return slot;
  };
  for (std::int32_t level = 0; level < depth; ++level) {
    for (std::int32_t i = 0; i < decoys; ++i) add((ids[level] + 1 + i) % decoder.vocab(), level);
    path.push_back(add(ids[level], level));
  }
  batch.segments.push_back({&cache, 0, lease->rows()});
  const Output& output = decoder.forward(batch);
  for (const std::int32_t slot : path) keep_logits(output, slot - prefix, 1, trail);
  lease->commit(path);
}

inline Trail in_chunks(Forward& decoder, kv::PagePool& pool, std::span<const Token> ids,
                       std::size_t chunk) {
  kv::Cache cache(pool);
  Trail trail;
  for (std::size_t at = 0; at < ids.size(); at += chunk)
    append_chain(decoder, cache, ids.subspan(at, std::min(chunk, ids.size() - at)), trail);
  keep_stored(cache, trail);
  return trail;
}

}  // namespace redline::model
