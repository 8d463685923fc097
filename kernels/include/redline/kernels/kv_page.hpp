// SPDX-License-Identifier: Apache-2.0
// How a page keeps the K and V of its sixteen slots. Per layer it holds one part a kv head for K,
// then one a kv head for V. K lies as [E, 16], so that neighbours are positions and a score needs
// no turning, V as [16, E]. A part of Q8_0 begins with its scales in F16, one for 32 elements of a
// slot: K [E/32, 16], V [16, E/32]; element = scale * int8.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace redline::kernels {

inline constexpr std::int64_t kPageTokens = 16;

enum class KvType : std::uint8_t { F16, F32, Q8_0 };
std::string_view name(KvType type);  // "f16", "f32", "q8_0"
std::optional<KvType> kv_type_from(std::string_view name);

std::int64_t kv_block(KvType type);  // elements that share a scale: E is a multiple of it
std::int64_t kv_part_bytes(KvType type, std::int64_t head_size);

// What slot s holds in a part: for i < count, `bytes` bytes at offset + (16 i + s) bytes.
struct KvField {
  std::int64_t offset, bytes, count;
};
struct KvFields {
  KvField scales, elements;  // no scales: count 0
};
KvFields key_fields(KvType type, std::int64_t head_size);
KvFields value_fields(KvType type, std::int64_t head_size);

}  // namespace redline::kernels
