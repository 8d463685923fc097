// SPDX-License-Identifier: Apache-2.0
// 4-bit blocks of our own making, and rows gathered out of tiles.
#include "redline/kernels/requantize.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "blocks.hpp"
#include "half.hpp"
#include "samples.hpp"

namespace redline::kernels {
namespace {

using namespace samples;

std::vector<float> normal_row(std::int64_t cols, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0.0f, 0.03f);
  std::vector<float> row(cols);
  for (float& x : row) x = normal(engine);
  return row;
}

std::vector<float> there_and_back(const std::vector<float>& row) {
  const std::int64_t cols = std::ssize(row);
  std::vector<std::byte> blocks(file_row_bytes(WeightType::Q4_0, cols));
  quantize_row_q4_0(row.data(), cols, blocks.data());
  std::vector<float> back(cols);
  dequantize_row(WeightType::Q4_0, blocks.data(), cols, back.data());
  return back;
}

// The usual quantiser: the largest weight becomes -8, whatever that does to the others.
std::vector<float> by_largest(const std::vector<float>& row) {
  std::vector<float> back(row.size());
  for (std::size_t at = 0; at < row.size(); at += 32) {
    float most = 0;
    for (std::size_t k = at; k < at + 32; ++k)
      if (std::fabs(row[k]) > std::fabs(most)) most = row[k];
    const float d = half_to_float(float_to_half(most / -8));
    for (std::size_t k = at; k < at + 32; ++k)
      back[k] = d * std::min(7.0f, std::floor(row[k] / d + 8.5f) - 8);
  }
  return back;
}

double squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += (double{a[k]} - b[k]) * (double{a[k]} - b[k]);
  return sum;
}

}  // namespace

TEST_CASE("a row that 4 bits hold exactly comes back bit for bit") {
  std::vector<float> row(64);
  for (int k = 0; k < 64; ++k) row[k] = 0.25f * static_cast<float>(k % 16 - 8);
  REQUIRE(there_and_back(row) == row);
  for (float& x : row) x = -x;  // its 8 is above 0 now
  REQUIRE(there_and_back(row) == row);
  REQUIRE(there_and_back(std::vector<float>(32)) == std::vector<float>(32));
}

TEST_CASE("the search leaves a tenth less error than the largest weight alone decides on") {
  double found = 0, usual = 0, size = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const auto row = normal_row(896, seed);
    found += squared_error(row, there_and_back(row));
    usual += squared_error(row, by_largest(row));
    size += squared_error(row, std::vector<float>(896));
  }
  REQUIRE(found < 0.9 * usual);
  REQUIRE(found < 0.008 * size);
}

TEST_CASE("no scale near the chosen one does clearly better") {
  const auto row = normal_row(32, 7);
  const double found = squared_error(row, there_and_back(row));
  for (float d = -0.02f; d < 0.02f; d += 0.00005f) {
    std::vector<float> back(32);
    for (std::size_t k = 0; k < 32; ++k)
      back[k] = d == 0 ? 0 : d * std::min(7.0f, std::max(-8.0f, std::nearbyint(row[k] / d)));
    REQUIRE(squared_error(row, back) > 0.97 * found);
  }
}

TEST_CASE("a block that is not finite stays so, and its neighbours whole") {
  for (const float bad :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    auto row = normal_row(96, 3);
    const auto whole = there_and_back(row);
    row[40] = bad;
    const auto back = there_and_back(row);
    REQUIRE(std::isnan(back[40]));
    REQUIRE(std::equal(back.begin(), back.begin() + 32, whole.begin()));
    REQUIRE(std::equal(back.begin() + 64, back.end(), whole.begin() + 64));
  }
}

TEST_CASE("gathered rows are the packed bytes of those rows of the file") {
  const std::vector<std::int32_t> chosen = {39, 0, 17, 16, 5, 38, 1,  2, 3,
                                            4,  6, 7,  8,  9, 10, 11, 12};
  Random random(5);
  for (const WeightType type : kAllTypes) {
    INFO(name(type));
    const std::int64_t cols = 512, bytes = file_row_bytes(type, cols);
    const Matrix whole(random, type, 40, cols);
    std::vector<std::byte> some;
    for (const std::int32_t row : chosen)
      some.insert(some.end(), whole.file.begin() + row * bytes,
                  whole.file.begin() + (row + 1) * bytes);
    const auto count = static_cast<std::int64_t>(chosen.size());
    std::vector<std::byte> expected(packed_bytes(type, count, cols));
    pack(type, count, cols, some.data(), expected.data());
    std::vector<std::byte> found(expected.size(), std::byte{0xff});
    gather_rows(whole.view(), chosen, found.data());
    REQUIRE(found == expected);
  }
}

}  // namespace redline::kernels
