// SPDX-License-Identifier: Apache-2.0
// What a page of one model holds on one rank: per layer K and V of its kv heads
// (redline/kernels/kv_page.hpp), then, for learned heads, the hidden states tapped at each slot as
// [16, feature_floats] floats.
#pragma once
#include <cstdint>

#include "redline/kernels/kv_page.hpp"

namespace redline::kv {

inline constexpr std::int32_t kPageTokens = 16;
static_assert(kPageTokens == kernels::kPageTokens);
using PageId = std::int32_t;

struct KvShape {
  std::int32_t layers = 0, kv_heads = 0, head_size = 0;
  std::int32_t feature_floats = 0;  // a slot's tapped states; 0: none
  kernels::KvType type = kernels::KvType::F16;
  std::int64_t part_bytes() const { return kernels::kv_part_bytes(type, head_size); }
  std::int64_t layer_bytes() const {  // K and V of one layer in one page
    return std::int64_t{2} * kv_heads * part_bytes();
  }
  std::int64_t features_offset() const { return layers * layer_bytes(); }  // in a page
  std::int64_t feature_offset(std::int32_t slot) const {  // of the slot's states, in its page
    return features_offset() + std::int64_t{slot % kPageTokens} * feature_floats * 4;
  }
  std::int64_t page_bytes() const {
    return features_offset() + std::int64_t{kPageTokens} * feature_floats * 4;
  }
  bool operator==(const KvShape&) const = default;
};

// All that a page holds of a slot: f(kernels::KvField) with offsets from the page's start.
template <class F>
void for_each_field(const KvShape& shape, F&& f) {
  const std::int64_t parts = std::int64_t{2} * shape.layers * shape.kv_heads;
  for (std::int64_t part = 0; part < parts; ++part) {
    const bool is_key = part / shape.kv_heads % 2 == 0;
    const auto fields = is_key ? kernels::key_fields(shape.type, shape.head_size)
                               : kernels::value_fields(shape.type, shape.head_size);
    for (kernels::KvField field : {fields.scales, fields.elements}) {
      field.offset += part * shape.part_bytes();
      if (field.count > 0) f(field);
    }
  }
  if (shape.feature_floats > 0)
    f(kernels::KvField{shape.features_offset(), std::int64_t{4} * shape.feature_floats, 1});
}

}  // namespace redline::kv
