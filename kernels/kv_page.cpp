// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/kv_page.hpp"

#include "kv_layout.hpp"

namespace redline::kernels {
namespace {

constexpr std::string_view kNames[] = {"f16", "f32", "q8_0"};

}  // namespace

std::string_view name(KvType type) { return kNames[static_cast<int>(type)]; }

std::optional<KvType> kv_type_from(std::string_view text) {
  for (const KvType type : {KvType::F16, KvType::F32, KvType::Q8_0})
    if (name(type) == text) return type;
  return std::nullopt;
}

std::int64_t kv_block(KvType type) { return type == KvType::Q8_0 ? kKvBlock : 1; }

std::int64_t kv_part_bytes(KvType type, std::int64_t head_size) {
  return bytes_of_part(type, head_size);
}

KvFields key_fields(KvType type, std::int64_t head_size) {
  return {.scales = {0, 2, type == KvType::Q8_0 ? head_size / kKvBlock : 0},
          .elements = {scale_bytes(type, head_size), element_bytes(type), head_size}};
}

KvFields value_fields(KvType type, std::int64_t head_size) {
  return {.scales = {0, head_size / kKvBlock * 2, type == KvType::Q8_0 ? 1 : 0},
          .elements = {scale_bytes(type, head_size), head_size * element_bytes(type), 1}};
}

}  // namespace redline::kernels
