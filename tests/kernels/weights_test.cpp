// SPDX-License-Identifier: Apache-2.0
// Blocks built by hand from the published layouts, and the tiles they are packed into.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "blocks.hpp"
#include "samples.hpp"

namespace redline::kernels {
namespace {

using namespace samples;

struct Bytes {  // a block under construction; halves by their bits
  std::vector<std::byte> data;
  Bytes() { data.reserve(256); }
  Bytes& byte(int value, std::size_t times = 1) {
    for (; times > 0; --times) data.push_back(static_cast<std::byte>(value));
    return *this;
  }
  Bytes& half(std::uint16_t bits) { return byte(bits & 255).byte(bits >> 8); }
};

std::vector<float> dequantized(WeightType type, const Bytes& block) {
  REQUIRE(std::ssize(block.data) == info(type).block_bytes);
  std::vector<float> out(static_cast<std::size_t>(block_weights(type)));
  dequantize_row(type, block.data.data(), block_weights(type), out.data());
  return out;
}

constexpr std::uint16_t kOne = 0x3c00, kHalf = 0x3800, kTwo = 0x4000;

}  // namespace

TEST_CASE("a Q4_0 block is d (q - 8), low nibbles first") {
  const std::vector<float> x =
      dequantized(WeightType::Q4_0, Bytes().half(kHalf).byte(0x9a).byte(0xf0, 15));
  REQUIRE(x[0] == 1.0f);   // 0.5 (10 - 8)
  REQUIRE(x[16] == 0.5f);  // 0.5 (9 - 8)
  REQUIRE(x[1] == -4.0f);  // 0.5 (0 - 8)
  REQUIRE(x[31] == 3.5f);  // 0.5 (15 - 8)
}

TEST_CASE("a Q4_1 block is d q + m") {
  const std::vector<float> x =
      dequantized(WeightType::Q4_1, Bytes().half(kHalf).half(kTwo).byte(0x9a).byte(0xf0, 15));
  REQUIRE(x[0] == 7.0f);
  REQUIRE(x[16] == 6.5f);
  REQUIRE(x[1] == 2.0f);
  REQUIRE(x[31] == 9.5f);
}

TEST_CASE("a Q5_0 block is d (q - 16) with the fifth bits in one word") {
  // Bits 0 and 31 of the word: elements 0 and 31.
  const std::vector<float> x = dequantized(
      WeightType::Q5_0, Bytes().half(kOne).byte(0x01).byte(0, 2).byte(0x80).byte(0x21, 16));
  REQUIRE(x[0] == 1.0f);     // 16 + 1 - 16
  REQUIRE(x[1] == -15.0f);   // 1 - 16
  REQUIRE(x[16] == -14.0f);  // 2 - 16
  REQUIRE(x[31] == 2.0f);    // 16 + 2 - 16
}

TEST_CASE("a Q8_0 block is d times int8") {
  const std::vector<float> x =
      dequantized(WeightType::Q8_0, Bytes().half(kHalf).byte(0x80).byte(0x7f).byte(0xff, 30));
  REQUIRE(x[0] == -64.0f);
  REQUIRE(x[1] == 63.5f);
  REQUIRE(x[31] == -0.5f);
}

TEST_CASE("a Q4_K block is d sc q - dmin m with eight 6-bit scales and mins in twelve bytes") {
  Bytes block;
  block.half(kOne).half(kHalf);
  // Scales 0-3: 1, 2, 3, 63; mins 0-3: 4, 5, 6, 7. Scale 4 is 33 = 0b10'0001, min 4 is 18 =
  // 0b01'0010: top bits in bytes 0 and 4, low nibbles in byte 8.
  block.byte(1 | 2 << 6).byte(2).byte(3).byte(63).byte(4 | 1 << 6).byte(5).byte(6).byte(7);
  block.byte(0x21).byte(0, 3);
  for (int i = 0; i < 128; ++i) block.byte(i < 32 ? 0xa3 : i < 64 ? 0x10 : i < 96 ? 0x0f : 0);
  const std::vector<float> x = dequantized(WeightType::Q4_K, block);
  REQUIRE(x[0] == 1.0f * 3 - 0.5f * 4);    // first 32: low nibbles of the first 32 bytes
  REQUIRE(x[32] == 2.0f * 10 - 0.5f * 5);  // next 32: their high nibbles
  REQUIRE(x[64] == 3.0f * 0 - 0.5f * 6);
  REQUIRE(x[127] == 63.0f * 1 - 0.5f * 7);
  REQUIRE(x[128] == 33.0f * 15 - 0.5f * 18);
  REQUIRE(x[160] == 0.0f);  // scale and min 5 are zero
}

TEST_CASE("a Q5_K block adds a fifth bit per group of 32 from one bit plane") {
  Bytes block;
  block.half(kOne).half(0);
  for (int i = 0; i < 4; ++i) block.byte(1);  // scales 0-3
  block.byte(0, 4);
  for (int i = 0; i < 4; ++i) block.byte(1);  // scales 4-7
  block.byte(0x81).byte(0x02, 31);            // qh: element 0 of groups 0 and 7, others of group 1
  block.byte(0x42, 128);
  const std::vector<float> x = dequantized(WeightType::Q5_K, block);
  REQUIRE(x[0] == 18.0f);
  REQUIRE(x[1] == 2.0f);
  REQUIRE(x[32] == 4.0f);
  REQUIRE(x[33] == 20.0f);
  REQUIRE(x[224] == 20.0f);
  REQUIRE(x[225] == 4.0f);
}

TEST_CASE("a Q6_K block is d sc (q - 32), four runs of 32 per half, d last") {
  Bytes block;
  for (int i = 0; i < 128; ++i) block.byte(i == 0 ? 0xa5 : i == 32 ? 0x1f : i == 64 ? 0x07 : 0);
  for (int i = 0; i < 64; ++i) block.byte(i == 0 ? 0b11'10'01'00 : i == 32 ? 0b01 : 0);
  for (int i = 0; i < 16; ++i) block.byte(i == 2 ? 0xff : i == 8 ? 3 : 1);
  block.half(kHalf);
  const std::vector<float> x = dequantized(WeightType::Q6_K, block);
  REQUIRE(x[0] == 0.5f * (5 - 32));       // ql[0] low, top bits 00
  REQUIRE(x[32] == -0.5f * (0x1f - 32));  // ql[32] low, top bits 01; scale 2 is -1
  REQUIRE(x[64] == 0.5f * (0x2a - 32));   // ql[0] high, top bits 10
  REQUIRE(x[96] == 0.5f * (0x31 - 32));   // ql[32] high, top bits 11
  REQUIRE(x[128] == 1.5f * (0x17 - 32));  // second half: ql[64], qh[32]; scale 8 is 3
  REQUIRE(x[1] == -16.0f);
}

TEST_CASE("float rows mean what IEEE says, subnormals and infinities too") {
  const std::uint16_t halves[] = {0x3c00, 0xc000, 0x0001, 0x8000, 0x7c00, 0x7bff};
  float out[6];
  dequantize_row(WeightType::F16, reinterpret_cast<const std::byte*>(halves), 6, out);
  REQUIRE((out[0] == 1 && out[1] == -2 && out[2] == 0x1p-24f && out[3] == 0 && out[5] == 65504));
  REQUIRE(std::isinf(out[4]));
  const std::uint16_t bfloats[] = {0x3f80, 0xc049};
  dequantize_row(WeightType::BF16, reinterpret_cast<const std::byte*>(bfloats), 2, out);
  REQUIRE((out[0] == 1 && out[1] == -3.140625f));
}

TEST_CASE("every half survives the way to float and back, and rounding is to nearest even") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = half_to_float(static_cast<std::uint16_t>(bits));
    if (!std::isnan(value))
      REQUIRE(float_to_half(value) == bits);
    else
      REQUIRE((float_to_half(value) & 0x7fff) > 0x7c00);
  }
  REQUIRE(float_to_half(65519.0f) == 0x7bff);
  REQUIRE(float_to_half(65520.0f) == 0x7c00);
  REQUIRE(float_to_half(1 + 0x1p-11f) == 0x3c00);
  REQUIRE(float_to_half(1 + 3 * 0x1p-11f) == 0x3c02);
  REQUIRE(float_to_half(0x1p-25f) == 0);
  REQUIRE(float_to_half(0x1.8p-24f) == 2);
}

TEST_CASE("packing loses nothing: each row read back from its tile has the file's bits") {
  Random random(1);
  for (WeightType type : kAllTypes) {
    for (std::int64_t rows : {1, 16, 37}) {
      const Matrix w(random, type, rows, 768);
      std::vector<std::int32_t> tokens;
      for (std::int64_t row = rows; row-- > 0;) tokens.push_back(static_cast<std::int32_t>(row));
      for (Isa isa : supported()) {
        std::vector<float> out(static_cast<std::size_t>(rows * 768));
        ops(isa).embed(w.view(), tokens.data(), out.data(), {0, rows});
        for (std::int64_t i = 0; i < rows; ++i) {
          const std::vector<float> want = w.dequantized_row(tokens[static_cast<std::size_t>(i)]);
          INFO(name(type) << " row " << tokens[static_cast<std::size_t>(i)]);
          REQUIRE(std::memcmp(out.data() + i * 768, want.data(), want.size() * 4) == 0);
        }
      }
    }
  }
}

TEST_CASE("tiles take at most three percent more bytes than the file") {
  for (WeightType type : kAllTypes)
    for (std::int64_t cols : {256, 512, 1536, 4864, 8960})
      REQUIRE(static_cast<double>(tile_bytes(type, cols)) <=
              16 * 1.03 * static_cast<double>(file_row_bytes(type, cols)));
  for (WeightType type : {WeightType::Q4_0, WeightType::Q4_1, WeightType::Q5_0, WeightType::Q8_0})
    for (std::int64_t cols : {576, 896, 928})
      REQUIRE(static_cast<double>(tile_bytes(type, cols)) <=
              16 * 1.03 * static_cast<double>(file_row_bytes(type, cols)));
}

}  // namespace redline::kernels
