// SPDX-License-Identifier: Apache-2.0
// One element of K or V in its page, and how a row's K and V become what a page holds.
#pragma once
#include <cmath>

#include "half.hpp"
#include "kv_layout.hpp"

namespace redline::kernels {
namespace {

// Of slot and element e: its place among the part's elements, and its scale's among the scales.
struct Place {
  std::byte* part;
  std::int64_t element, scale;
};
inline Place place_of(const PagedKv& kv, std::int64_t slot, std::int64_t kv_head, Part part,
                      std::int64_t e) {
  const std::int64_t s = slot % kPageTokens, block = e / kKvBlock;
  std::byte* const begin = part_of(kv, slot / kPageTokens, kv_head, part);
  if (part == Part::KEYS) return {begin, e * kPageTokens + s, block * kPageTokens + s};
  return {begin, s * kv.head_size + e, s * (kv.head_size / kKvBlock) + block};
}

inline float kv_value(const PagedKv& kv, std::int64_t slot, std::int64_t kv_head, Part part,
                      std::int64_t e) {
  const Place at = place_of(kv, slot, kv_head, part, e);
  const std::byte* const elements = at.part + scale_bytes(kv.type, kv.head_size);
  const auto* const halves = reinterpret_cast<const std::uint16_t*>(at.part);
  if (kv.type == KvType::F32) return reinterpret_cast<const float*>(elements)[at.element];
  if (kv.type == KvType::F16) return half_to_float(halves[at.element]);
  return static_cast<float>(reinterpret_cast<const std::int8_t*>(elements)[at.element]) *
         half_to_float(halves[at.scale]);
}

// The scale of 32 elements: the largest becomes 127. NaN when one of them is not finite.
inline std::uint16_t kv_scale(const float* x) {
  float largest = 0, poison = 0;
  for (std::int64_t e = 0; e < kKvBlock; ++e) {
    const float size = std::fabs(x[e]);
    largest = size > largest ? size : largest;
    poison = poison + x[e] * 0;
  }
  return poison == 0 ? float_to_half(largest / 127.0f) : std::uint16_t{0x7e00};
}

inline std::int8_t kv_quant(float x, float scale) {
  const float ratio = x * (scale > 0 ? 1.0f / scale : 0);
  const float above = ratio > -127.0f ? ratio : -127.0f, cut = above < 127.0f ? above : 127.0f;
  return static_cast<std::int8_t>(cut + 0x1.8p23f - 0x1.8p23f);  // to nearest even
}

// x [E]
inline void store_slot(const PagedKv& kv, std::int64_t slot, std::int64_t kv_head, Part part,
                       const float* x) {
  for (std::int64_t e = 0; e < kv.head_size; ++e) {
    const Place at = place_of(kv, slot, kv_head, part, e);
    std::byte* const elements = at.part + scale_bytes(kv.type, kv.head_size);
    auto* const halves = reinterpret_cast<std::uint16_t*>(at.part);
    if (kv.type == KvType::F32) {
      reinterpret_cast<float*>(elements)[at.element] = x[e];
    } else if (kv.type == KvType::F16) {
      halves[at.element] = float_to_half(x[e]);
    } else {
      if (e % kKvBlock == 0) halves[at.scale] = kv_scale(x + e);
      reinterpret_cast<std::int8_t*>(elements)[at.element] =
          kv_quant(x[e], half_to_float(halves[at.scale]));
    }
  }
}

}  // namespace
}  // namespace redline::kernels
