// SPDX-License-Identifier: Apache-2.0
// Block layouts: ggml's (ggml-common.h), see kernels/file_blocks.cpp for the reader of each.
#include "model/random_blocks.hpp"

#include <bit>
#include <cmath>

#include "redline/error.hpp"

namespace redline::model {
namespace {

using files::TensorType;
using Bytes = std::vector<std::byte>;

void put(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}
void put_random(Bytes& out, HashStream& random, int bytes) {
  for (int i = 0; i < bytes; i += 8) put(out, random.next(), bytes - i < 8 ? bytes - i : 8);
}

// Cuts instead of rounding: these are random numbers.
std::uint16_t half_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t size = bits & 0x7fffffffu;
  if (size < 0x38800000u) return sign | static_cast<std::uint16_t>(std::fabs(value) * 0x1p24);
  return sign | static_cast<std::uint16_t>((size >> 13) - (112u << 10));
}

// A block scale of six significant bits around `size`: its multiples by 7.5 and 15.5, the offsets
// that make a block's mean zero, are then exact in F16.
double block_scale(double size, HashStream& random) {
  const auto value = static_cast<float>(size * (0.5 + random.unit()));
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xfffc0000u);
}

// Eight 6-bit scales in [32, 64) and mins equal to them: 12 bytes.
void put_sub_scales(Bytes& out, HashStream& random) {
  unsigned scale[8];
  for (unsigned& s : scale) s = 32 + static_cast<unsigned>(random.below(32));
  for (int twice = 0; twice < 2; ++twice)  // scales, then mins
    for (int j = 0; j < 4; ++j) put(out, scale[j] | (scale[j + 4] >> 4) << 6, 1);
  for (int j = 4; j < 8; ++j) put(out, (scale[j] & 15) | (scale[j] & 15) << 4, 1);
}

// The deviation of a uniform integer of n neighbouring values.
double uniform_deviation(double n) { return std::sqrt((n * n - 1) / 12); }
constexpr double kMeanSubScale = 48;

void put_float(TensorType type, double deviation, HashStream& random, Bytes& out) {
  const double value = (2 * random.unit() - 1) * deviation * std::sqrt(3.0);
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == TensorType::F32) return put(out, bits, 4);
  put(out, type == TensorType::F16 ? half_bits(value) : bits >> 16, 2);
}

void put_small_block(TensorType type, double deviation, HashStream& random, Bytes& out) {
  const double values = type == TensorType::Q8_0 ? 256 : type == TensorType::Q5_0 ? 32 : 16;
  const double d = block_scale(deviation / uniform_deviation(values), random);
  put(out, half_bits(d), 2);
  if (type == TensorType::Q4_1) put(out, half_bits(-7.5 * d), 2);
  put_random(out, random, type == TensorType::Q8_0 ? 32 : type == TensorType::Q5_0 ? 20 : 16);
}

void put_k_block(TensorType type, double deviation, HashStream& random, Bytes& out) {
  const double values = type == TensorType::Q4_K ? 16 : type == TensorType::Q5_K ? 32 : 64;
  const double d = block_scale(deviation / uniform_deviation(values) / kMeanSubScale, random);
  if (type == TensorType::Q6_K) {
    put_random(out, random, 192);
    for (int g = 0; g < 16; ++g) put(out, (random.below(2) ? 32 : -64) + random.below(32), 1);
    return put(out, half_bits(d), 2);
  }
  put(out, half_bits(d), 2);
  put(out, half_bits((values - 1) / 2 * d), 2);
  put_sub_scales(out, random);
  put_random(out, random, type == TensorType::Q5_K ? 160 : 128);
}

}  // namespace

std::vector<std::byte> random_blocks(TensorType type, std::int64_t rows, std::int64_t cols,
                                     double deviation, HashStream& random) {
  Bytes out;
  const std::int64_t weights = rows * cols;
  switch (type) {
    case TensorType::F32:
    case TensorType::F16:
    case TensorType::BF16:
      for (std::int64_t i = 0; i < weights; ++i) put_float(type, deviation, random, out);
      return out;
    case TensorType::Q4_0:
    case TensorType::Q4_1:
    case TensorType::Q5_0:
    case TensorType::Q8_0:
      for (std::int64_t i = 0; i < weights / 32; ++i) put_small_block(type, deviation, random, out);
      return out;
    case TensorType::Q4_K:
    case TensorType::Q5_K:
    case TensorType::Q6_K:
      for (std::int64_t i = 0; i < weights / 256; ++i) put_k_block(type, deviation, random, out);
      return out;
  }
  throw Error("no random weights of tensor type " + std::to_string(static_cast<unsigned>(type)));
}

}  // namespace redline::model
