// SPDX-License-Identifier: Apache-2.0
// Random weights as a file stores them, and random rows.
#pragma once
#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "half.hpp"
#include "layout.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels::samples {

using Random = std::mt19937_64;

inline constexpr WeightType kAllTypes[] = {
    WeightType::F32,  WeightType::F16,  WeightType::BF16, WeightType::Q4_0, WeightType::Q4_1,
    WeightType::Q5_0, WeightType::Q8_0, WeightType::Q4_K, WeightType::Q5_K, WeightType::Q6_K};

inline std::vector<float> floats(Random& random, std::int64_t count, float size = 1) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& value : out) value = std::normal_distribution<float>(0, size)(random);
  return out;
}

// Where the f16 scales of a block lie; everything else of a block may be any bits.
inline std::vector<int> half_offsets(WeightType type) {
  switch (type) {
    case WeightType::Q4_1:
    case WeightType::Q4_K:
    case WeightType::Q5_K:
      return {0, 2};
    case WeightType::Q6_K:
      return {208};
    default:
      return {0};
  }
}

inline void put_half(std::byte* at, float value) {
  const std::uint16_t bits = float_to_half(value);
  std::memcpy(at, &bits, 2);
}

// Rows of the file; every bit pattern of quants and sub-scales, scales of ordinary size.
inline std::vector<std::byte> file_rows(Random& random, WeightType type, std::int64_t rows,
                                        std::int64_t cols) {
  std::vector<std::byte> out(static_cast<std::size_t>(rows * file_row_bytes(type, cols)));
  const std::size_t block = static_cast<std::size_t>(info(type).block_bytes);
  std::normal_distribution<float> normal(0, 0.05f);
  for (std::size_t at = 0; at < out.size(); at += block) {
    if (type == WeightType::F32) {
      const float value = normal(random);
      std::memcpy(&out[at], &value, 4);
    } else if (type == WeightType::F16) {
      put_half(&out[at], normal(random));
    } else if (type == WeightType::BF16) {
      const std::uint16_t bits =
          static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(normal(random)) >> 16);
      std::memcpy(&out[at], &bits, 2);
    } else {
      for (std::size_t i = 0; i < block; ++i) out[at + i] = static_cast<std::byte>(random() & 255);
      for (int offset : half_offsets(type))
        put_half(&out[at + static_cast<std::size_t>(offset)], normal(random) / 16);
    }
  }
  return out;
}

struct Matrix {
  WeightType type;
  std::int64_t rows, cols;
  std::vector<std::byte> file, tiles;

  Matrix(Random& random, WeightType of, std::int64_t n, std::int64_t k)
      : type(of),
        rows(n),
        cols(k),
        file(file_rows(random, of, n, k)),
        tiles(static_cast<std::size_t>(packed_bytes(of, n, k))) {
    pack(type, rows, cols, file.data(), tiles.data());
  }
  PackedMatrix view() const { return {type, rows, cols, tiles.data()}; }
  std::vector<float> dequantized_row(std::int64_t row) const {
    std::vector<float> out(static_cast<std::size_t>(cols));
    dequantize_row(type, file.data() + row * file_row_bytes(type, cols), cols, out.data());
    return out;
  }
};

inline std::vector<std::byte> quantized(const Ops& ops, const std::vector<float>& x,
                                        std::int64_t rows, std::int64_t cols) {
  std::vector<std::byte> out(static_cast<std::size_t>(activation_bytes(rows, cols)));
  for (Grain grain : kGrains)
    if (grain == Grain::NARROW || cols % 128 == 0)
      ops.quantize(x.data(), cols, rows, cols, grain, out.data(), {0, row_passes(rows)}, {0, cols});
  return out;
}

template <class Number>
bool same_bits(const std::vector<Number>& a, const std::vector<Number>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(Number)) == 0;
}

}  // namespace redline::kernels::samples
