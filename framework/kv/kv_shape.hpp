// SPDX-License-Identifier: Apache-2.0
// What a page of one model holds on one rank: per layer K then V as [kv_head, 16, head_size] in
// F16, then, for learned heads, the hidden states tapped at each slot as [16, feature_floats]
// floats.
#pragma once
#include <cstdint>

namespace redline::kv {

inline constexpr std::int32_t kPageTokens = 16;
using PageId = std::int32_t;

struct KvShape {
  std::int32_t layers = 0, kv_heads = 0, head_size = 0;
  std::int32_t feature_floats = 0;    // a slot's tapped states; 0: none
  std::int64_t layer_bytes() const {  // K and V of one layer in one page
    return std::int64_t{2} * kv_heads * kPageTokens * head_size * 2;
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

}  // namespace redline::kv
