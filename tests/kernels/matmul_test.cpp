// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "samples.hpp"

namespace redline::kernels {
namespace {

using namespace samples;

std::vector<float> product(const Ops& table, const PackedMatrix& w, const std::vector<float>& x,
                           std::int64_t rows, const float* bias = nullptr) {
  const std::vector<std::byte> packed = quantized(table, x, rows, w.cols);
  std::vector<float> out(static_cast<std::size_t>(rows * w.rows), -1.0f);
  table.matmul(w, {x.data(), packed.data()}, rows, bias, out.data(), w.rows, {0, w.tiles()});
  return out;
}
std::vector<float> product(const Ops& table, const Matrix& w, const std::vector<float>& x,
                           std::int64_t rows, const float* bias = nullptr) {
  return product(table, w.view(), x, rows, bias);
}

}  // namespace

TEST_CASE("matmul gives the reference's bits on every instruction set, type and shape") {
  Random random(1);
  const std::int64_t widths[][2] = {{16, 256}, {33, 512}, {7, 768}};
  for (WeightType type : kAllTypes) {
    for (const auto& [n, k] : widths) {
      const Matrix w(random, type, n, k);
      const std::vector<float> bias = floats(random, n);
      for (std::int64_t rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33}) {
        const std::vector<float> x = floats(random, rows * k);
        const std::vector<float> want = product(ops(Isa::PORTABLE), w, x, rows, bias.data());
        for (Isa isa : supported()) {
          INFO(name(isa) << " " << name(type) << " " << n << "x" << k << " rows " << rows);
          REQUIRE(same_bits(product(ops(isa), w, x, rows, bias.data()), want));
        }
      }
    }
  }
}

TEST_CASE("products of views of inputs sum to the whole product, and rows of a view are its rows") {
  Random random(8);
  const std::int64_t n = 40, k = 768;
  const bool is_fine = GENERATE(false, true);  // fine cuts: K-quants take another grain than whole
  const std::vector<std::int64_t> cuts = is_fine
                                             ? std::vector<std::int64_t>{0, 32, 320, 512, 736, 768}
                                             : std::vector<std::int64_t>{0, 128, 512, 640, 768};
  for (WeightType type : kAllTypes) {
    const Matrix w(random, type, n, k);
    const std::vector<float> x = floats(random, 3 * k);
    const std::vector<float> whole = product(ops(Isa::PORTABLE), w, x, 3);
    std::vector<float> sums(whole.size());
    const bool is_coarser = is_fine && !is_float(type) && grain_of(w.view()) == Grain::WIDE;
    for (std::size_t i = 1; i < std::size(cuts); ++i) {
      const PackedMatrix part = cols_of(w.view(), cuts[i - 1], cuts[i]);
      std::vector<float> x_part;
      for (std::int64_t m = 0; m < 3; ++m)
        x_part.insert(x_part.end(), x.begin() + m * k + cuts[i - 1], x.begin() + m * k + cuts[i]);
      const std::vector<float> want = product(ops(Isa::PORTABLE), part, x_part, 3);
      for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += want[j];
      const PackedMatrix last = rows_of(part, 32, n);
      const std::vector<float> rows = product(ops(Isa::PORTABLE), last, x_part, 3);
      for (std::int64_t m = 0; m < 3; ++m)
        REQUIRE(std::equal(rows.begin() + m * 8, rows.begin() + (m + 1) * 8,
                           want.begin() + m * n + 32));
      for (Isa isa : supported()) {
        INFO(name(isa) << " " << name(type) << " inputs from " << cuts[i - 1]);
        REQUIRE(same_bits(product(ops(isa), part, x_part, 3), want));
      }
    }
    for (std::size_t j = 0; j < sums.size(); ++j)
      REQUIRE(sums[j] == Approx(whole[j]).margin((is_coarser ? 1e-1 : 1e-3) * std::sqrt(k)));
  }
}

TEST_CASE("matmul stays exact at the largest quants and activations") {
  Random random(2);
  for (WeightType type : {WeightType::Q4_0, WeightType::Q4_1, WeightType::Q5_0, WeightType::Q8_0,
                          WeightType::Q4_K, WeightType::Q5_K, WeightType::Q6_K}) {
    Matrix w(random, type, 16, 256);
    for (int pattern : {0x00, 0x7f, 0x80, 0xff}) {  // no int16 sum may saturate
      std::fill(w.file.begin(), w.file.end(), static_cast<std::byte>(pattern));
      for (std::int64_t at = 0; at < std::ssize(w.file); at += info(type).block_bytes)
        for (int offset : half_offsets(type))
          put_half(&w.file[static_cast<std::size_t>(at + offset)], 0.5f);
      pack(type, w.rows, w.cols, w.file.data(), w.tiles.data());
      for (float sign : {1.0f, -1.0f}) {
        const std::vector<float> x(256, 3.0f * sign);
        const std::vector<float> want = product(ops(Isa::PORTABLE), w, x, 1);
        double exact = 0;
        for (float weight : w.dequantized_row(0)) exact += double{weight} * 3.0 * sign;
        REQUIRE(want[0] == Approx(exact).epsilon(1e-5));
        for (Isa isa : supported()) REQUIRE(same_bits(product(ops(isa), w, x, 1), want));
      }
    }
  }
}

TEST_CASE("matmul is the product of dequantised weights and activations rounded to eight bits") {
  Random random(3);
  const std::int64_t n = 40, k = 1024;
  for (WeightType type : kAllTypes) {
    const Matrix w(random, type, n, k);
    const std::vector<float> x = floats(random, k);
    const std::vector<float> got = product(ops(Isa::PORTABLE), w, x, 1);
    for (std::int64_t row = 0; row < n; ++row) {
      const std::vector<float> weights = w.dequantized_row(row);
      double exact = 0, squares = 0;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        exact += double{weights[i]} * x[i];
        squares += double{weights[i]} * weights[i];
      }
      // An activation is off by at most half a step, 1/254 of a block's largest (about 2.2 here).
      const double tolerance = is_float(type) ? 1e-5 : 6 * std::sqrt(squares) * 3.5 / 254 / 1.7;
      INFO(name(type) << " row " << row);
      REQUIRE(std::abs(got[static_cast<std::size_t>(row)] - exact) < tolerance);
    }
  }
}

TEST_CASE("a row's product depends on no other row, nor on how tiles are cut") {
  Random random(4);
  const std::int64_t n = 70, k = 512;
  for (Isa isa : supported()) {
    const Ops& table = ops(isa);
    for (WeightType type :
         {WeightType::F16, WeightType::Q4_K, WeightType::Q6_K, WeightType::Q8_0}) {
      const Matrix w(random, type, n, k);
      const std::vector<float> probe = floats(random, k);
      const std::vector<float> alone = product(table, w, probe, 1);
      for (std::int64_t rows : {2, 3, 5, 8, 16, 33, 65}) {
        std::vector<float> x = floats(random, rows * k, 10);
        const std::int64_t at =
            static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows));
        std::copy(probe.begin(), probe.end(), x.begin() + at * k);
        const std::vector<std::byte> packed = quantized(table, x, rows, k);
        std::vector<float> out(static_cast<std::size_t>(rows * n));
        for (std::int64_t tile = w.view().tiles(); tile-- > 0;)
          table.matmul(w.view(), {x.data(), packed.data()}, rows, nullptr, out.data(), n,
                       {tile, tile + 1});
        REQUIRE(std::memcmp(out.data() + at * n, alone.data(), alone.size() * 4) == 0);
      }
    }
  }
}

TEST_CASE("matmul writes only its tiles and only rows that exist") {
  Random random(5);
  const std::int64_t n = 40, k = 256, stride = 64;
  for (Isa isa : supported()) {
    const Matrix w(random, WeightType::Q4_K, n, k);
    const std::vector<float> x = floats(random, 3 * k);
    const std::vector<std::byte> packed = quantized(ops(isa), x, 3, k);
    std::vector<float> out(3 * stride, 77.0f);
    ops(isa).matmul(w.view(), {x.data(), packed.data()}, 3, nullptr, out.data(), stride, {1, 3});
    for (std::int64_t i = 0; i < std::ssize(out); ++i) {
      const std::int64_t column = i % stride;
      REQUIRE((out[static_cast<std::size_t>(i)] == 77.0f) == (column < 16 || column >= n));
    }
  }
}

TEST_CASE("a NaN or an infinity among the activations shows in every output of that row alone") {
  Random random(6);
  const std::int64_t k = 256;
  for (Isa isa : supported()) {
    for (float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const Matrix w(random, WeightType::Q5_K, 16, k);
      std::vector<float> x = floats(random, 2 * k);
      x[100] = bad;
      const std::vector<float> out = product(ops(isa), w, x, 2);
      for (int i = 0; i < 16; ++i) REQUIRE(std::isnan(out[static_cast<std::size_t>(i)]));
      for (int i = 16; i < 32; ++i) REQUIRE(std::isfinite(out[static_cast<std::size_t>(i)]));
    }
  }
}

TEST_CASE(
    "quantize gives the reference's bits, by passes and columns, for sizes from zero to huge") {
  Random random(7);
  const std::int64_t rows = 11;
  const Grain grain = GENERATE(Grain::NARROW, Grain::WIDE);
  const std::int64_t k = grain == Grain::WIDE ? 384 : 352;
  for (float size : {0.0f, 1e-38f, 1e-31f, 1e-20f, 1.0f, 1e30f, 3e38f}) {
    std::vector<float> x = floats(random, rows * k);
    for (float& value : x) value = std::clamp(value, -1.0f, 1.0f) * size;
    x[40] = std::numeric_limits<float>::quiet_NaN(),
    x[80] = -std::numeric_limits<float>::infinity();
    std::vector<std::byte> want(static_cast<std::size_t>(activation_bytes(rows, k)));
    ops(Isa::PORTABLE)
        .quantize(x.data(), k, rows, k, grain, want.data(), {0, row_passes(rows)}, {0, k});
    for (Isa isa : supported()) {
      std::vector<std::byte> got(want.size());
      const std::int64_t cut = kActivationColumns;
      ops(isa).quantize(x.data(), k, rows, k, grain, got.data(), {1, row_passes(rows)}, {0, k});
      ops(isa).quantize(x.data() + cut, k, rows, k, grain, got.data(), {0, 1}, {cut, k});
      ops(isa).quantize(x.data(), k, rows, k, grain, got.data(), {0, 1}, {0, cut});
      INFO(name(isa) << " size " << size);
      REQUIRE(same_bits(got, want));
    }
  }
}

}  // namespace redline::kernels
