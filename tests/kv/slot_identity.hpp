// SPDX-License-Identifier: Apache-2.0
// Marks every block of a slot (each layer, K and V, each kv head, and the features) with one
// number, and reads it back: what a slot holds must follow it wherever a commit puts it.
#pragma once
#include <cstdint>
#include <cstring>
#include <optional>

#include "kv/cache.hpp"

namespace redline::kv {

inline constexpr KvShape kIdentityShape{
    .layers = 2, .kv_heads = 3, .head_size = 4, .feature_floats = 2};  // 8 bytes a block and slot

class SlotIdentity {
 public:
  static void write(const PageTable& cache, std::int32_t slot, std::uint64_t identity) {
    for (int block = 0; block < kBlocks; ++block) {
      const std::uint64_t value = identity * kBlocks + block;
      std::memcpy(at(cache, slot, block), &value, sizeof value);
    }
  }
  // Nothing when the blocks of the slot disagree.
  static std::optional<std::uint64_t> read(const PageTable& cache, std::int32_t slot) {
    std::uint64_t first = 0;
    std::memcpy(&first, at(cache, slot, 0), sizeof first);
    for (int block = 1; block < kBlocks; ++block) {
      std::uint64_t value = 0;
      std::memcpy(&value, at(cache, slot, block), sizeof value);
      if (value != first + block) return std::nullopt;
    }
    return first / kBlocks;
  }

 private:
  static constexpr int kBlocks = kIdentityShape.layers * 2 * kIdentityShape.kv_heads + 1;
  static std::byte* at(const PageTable& cache, std::int32_t slot, int block) {
    return cache.pages()[slot / kPageTokens] + block * kPageTokens * 8 + (slot % kPageTokens) * 8;
  }
};

}  // namespace redline::kv
