// SPDX-License-Identifier: Apache-2.0
// What a page holds of one slot, gathered: K, V and features.
#pragma once
#include <cstddef>
#include <cstring>
#include <vector>

#include "kv/page_table.hpp"

namespace redline::kv {

// f(std::byte* at, std::int64_t bytes), in an order of its own that is the same for every slot
template <class F>
void for_each_piece(const PageTable& table, std::int32_t slot, F&& f) {
  std::byte* const page = table.pages()[slot / kPageTokens];
  for_each_field(table.shape(), [&](const kernels::KvField& field) {
    for (std::int64_t i = 0; i < field.count; ++i)
      f(page + field.offset + (i * kPageTokens + slot % kPageTokens) * field.bytes, field.bytes);
  });
}

inline std::vector<std::byte> slot_bytes(const PageTable& table, std::int32_t slot) {
  std::vector<std::byte> all;
  for_each_piece(table, slot, [&](const std::byte* at, std::int64_t bytes) {
    all.insert(all.end(), at, at + bytes);
  });
  return all;
}

}  // namespace redline::kv
