// SPDX-License-Identifier: Apache-2.0
// Where the parts of a page lie (redline/kernels/kv_page.hpp). File local: see layout.hpp.
#pragma once
#include <cstddef>

#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kKvBlock = 32;  // elements of Q8_0 that share a scale

inline constexpr std::int64_t element_bytes(KvType type) {
  return type == KvType::F32 ? 4 : type == KvType::F16 ? 2 : 1;
}
inline constexpr std::int64_t scale_bytes(KvType type, std::int64_t head_size) {
  return type == KvType::Q8_0 ? head_size / kKvBlock * kPageTokens * 2 : 0;
}
inline constexpr std::int64_t bytes_of_part(KvType type, std::int64_t head_size) {
  return scale_bytes(type, head_size) + kPageTokens * head_size * element_bytes(type);
}

enum class Part : std::uint8_t { KEYS, VALUES };

// Of one kv head, in the page of so many; its elements begin scale_bytes() behind.
inline std::byte* part_of(const PagedKv& kv, std::int64_t page, std::int64_t kv_head, Part part) {
  const std::int64_t index = part == Part::VALUES ? kv.kv_heads + kv_head : kv_head;
  return kv.pages[page] + kv.layer_offset + index * bytes_of_part(kv.type, kv.head_size);
}

}  // namespace
}  // namespace redline::kernels
