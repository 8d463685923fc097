// SPDX-License-Identifier: Apache-2.0
// 16-bit floats in plain integer arithmetic, bit for bit what F16C computes (round to nearest
// even).
#pragma once
#include <bit>
#include <cstdint>

namespace redline::kernels {
namespace {

inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t{half & 0x8000u} << 16;
  const std::uint32_t rest = half & 0x7fffu;
  if (rest > 0x7c00) return std::bit_cast<float>(sign | 0x7fc00000u | rest << 13);  // quieted
  if (rest == 0x7c00) return std::bit_cast<float>(sign | 0x7f800000u);
  if (rest >= 0x0400) return std::bit_cast<float>(sign | ((rest << 13) + (112u << 23)));
  const float small = static_cast<float>(rest) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(small));
}

inline std::uint16_t float_to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
  std::uint32_t half;
  if (size > 0x7f800000u) {
    half = 0x7e00u | (size >> 13 & 0x3ffu);
  } else if (size >= 0x47800000u) {  // 65536 and more
    half = 0x7c00u;
  } else if (size >= 0x38800000u) {  // normal: may round up into infinity
    half = (size - (112u << 23) + 0x0fffu + (size >> 13 & 1u)) >> 13;
  } else {  // one unit of 0.5f is 2^-24, the step of subnormal halves: the addition rounds
    const float shifted = std::bit_cast<float>(size) + 0.5f;
    half = std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u;
  }
  return static_cast<std::uint16_t>(sign | half);
}

inline float bfloat_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

}  // namespace
}  // namespace redline::kernels
