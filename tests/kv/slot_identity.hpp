// SPDX-License-Identifier: Apache-2.0
// Marks every piece of a slot (each layer, K and V, each kv head, and the features) with one
// number, and reads it back: what a slot holds must follow it wherever a commit puts it.
#pragma once
#include <cstdint>
#include <optional>

#include "kv/cache.hpp"
#include "kv/slot_bytes.hpp"

namespace redline::kv {

inline constexpr KvShape kIdentityShape{
    .layers = 2, .kv_heads = 3, .head_size = 4, .feature_floats = 2};

class SlotIdentity {
 public:
  static void write(const PageTable& cache, std::int32_t slot, std::uint64_t identity) {
    std::uint64_t state = identity;
    for_each_piece(cache, slot, [&](std::byte* at, std::int64_t bytes) {
      for (std::int64_t i = 0; i < bytes; ++i, ++state) at[i] = mixed(state);
    });
    std::memcpy(features(cache, slot), &identity, sizeof identity);
  }
  // Nothing when the pieces of the slot disagree.
  static std::optional<std::uint64_t> read(const PageTable& cache, std::int32_t slot) {
    std::uint64_t identity = 0;
    std::memcpy(&identity, features(cache, slot), sizeof identity);
    std::uint64_t state = identity;
    bool agrees = true;
    for_each_piece(cache, slot, [&](const std::byte* at, std::int64_t bytes) {
      for (std::int64_t i = 0; i < bytes; ++i, ++state)
        agrees = agrees && (at[i] == mixed(state) || at >= features(cache, slot));
    });
    return agrees ? std::optional(identity) : std::nullopt;
  }

 private:
  static std::byte mixed(std::uint64_t x) {
    return static_cast<std::byte>((x * 0x9e3779b97f4a7c15ull) >> 56);
  }
  static std::byte* features(const PageTable& cache, std::int32_t slot) {
    return cache.pages()[slot / kPageTokens] + cache.shape().feature_offset(slot);
  }
};

}  // namespace redline::kv
