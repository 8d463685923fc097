// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "reference/kv_values.hpp"
#include "samples.hpp"

namespace redline::kernels {
namespace {

using namespace samples;

struct RopeTable {
  std::vector<float> cosine, sine;
  RopeTable(double base, std::int64_t size, std::int64_t positions)
      : cosine(static_cast<std::size_t>(positions * size / 2)), sine(cosine.size()) {
    fill_rope_table(base, nullptr, 1, size, positions, cosine.data(), sine.data());
  }
};

}  // namespace

TEST_CASE("add_rms_norm gives the reference's bits and float64's value") {
  Random random(1);
  for (std::int64_t cols : {1, 15, 16, 17, 576, 1536}) {
    const std::int64_t rows = 5;
    const std::vector<float> x = floats(random, rows * cols), delta = floats(random, rows * cols);
    const std::vector<float> weight = floats(random, cols);
    for (const float* add : {delta.data(), static_cast<const float*>(nullptr)}) {
      std::vector<float> x_want = x, want(x.size());
      ops(Isa::PORTABLE)
          .add_rms_norm(x_want.data(), add, weight.data(), 1e-6f, cols, want.data(), {0, rows});
      double squares = 0;
      for (std::int64_t k = 0; k < cols; ++k)
        squares += std::pow(double{x[static_cast<std::size_t>(k)]} + (add ? add[k] : 0), 2);
      REQUIRE(want[0] == Approx((double{x[0]} + (add ? add[0] : 0)) /
                                std::sqrt(squares / static_cast<double>(cols) + 1e-6) * weight[0])
                             .epsilon(1e-5));
      for (Isa isa : supported()) {
        std::vector<float> x_got = x, got(x.size());
        ops(isa).add_rms_norm(x_got.data(), add, weight.data(), 1e-6f, cols, got.data(), {2, rows});
        ops(isa).add_rms_norm(x_got.data(), add, weight.data(), 1e-6f, cols, got.data(), {0, 2});
        REQUIRE(same_bits(got, want));
        REQUIRE(same_bits(x_got, x_want));
      }
    }
  }
}

TEST_CASE("swiglu gives the reference's bits and float64's value, also far from zero") {
  Random random(2);
  const std::int64_t rows = 3, stride = 100;
  for (std::int64_t width : {1, 16, 37}) {
    std::vector<float> both = floats(random, rows * stride, 30);
    both[0] = -1000, both[1] = 1000;
    std::vector<float> want(static_cast<std::size_t>(rows * width));
    ops(Isa::PORTABLE).swiglu(both.data(), both.data() + 50, width, stride, want.data(), {0, rows});
    for (std::int64_t k = 0; k < width; ++k) {
      const double g = both[static_cast<std::size_t>(k)],
                   up = both[static_cast<std::size_t>(50 + k)];
      REQUIRE(want[static_cast<std::size_t>(k)] ==
              Approx(g / (1 + std::exp(-g)) * up).epsilon(1e-5).margin(1e-30));
    }
    for (Isa isa : supported()) {
      std::vector<float> got(want.size());
      ops(isa).swiglu(both.data(), both.data() + 50, width, stride, got.data(), {0, rows});
      REQUIRE(same_bits(got, want));
    }
  }
}

TEST_CASE("rope tables hold the correctly rounded cosine and sine up to long contexts") {
  std::int64_t wrong = 0, all = 0;
  for (double base : {10000.0, 1000000.0}) {
    const RopeTable table(base, 128, 33000);
    for (std::int64_t position : {0, 1, 2, 100, 4095, 16384, 32999}) {
      for (std::int64_t i = 0; i < 64; ++i, ++all) {
        const double angle =
            static_cast<double>(position) * std::pow(base, -2.0 * static_cast<double>(i) / 128);
        const std::size_t at = static_cast<std::size_t>(position * 64 + i);
        REQUIRE(table.cosine[at] == Approx(std::cos(angle)).margin(1e-7));
        REQUIRE(table.sine[at] == Approx(std::sin(angle)).margin(1e-7));
        wrong += table.cosine[at] != static_cast<float>(std::cos(angle));
      }
    }
  }
  REQUIRE(wrong * 100 <= all);  // the platform's own functions round differently in rare cases
}

TEST_CASE("rope_append gives the reference's bits in q, k and the slots, and writes nothing else") {
  Random random(3);
  for (const auto& [size, type] :
       std::vector<std::pair<std::int64_t, KvType>>{{16, KvType::F16},
                                                    {20, KvType::F16},
                                                    {64, KvType::F16},
                                                    {128, KvType::F16},
                                                    {20, KvType::F32},
                                                    {64, KvType::F32},
                                                    {32, KvType::Q8_0},
                                                    {128, KvType::Q8_0}}) {
    for (RopePairs pairs : {RopePairs::NORM, RopePairs::NEOX}) {
      const std::int64_t rows = 4, heads = 3, kv_heads = 2,
                         layer = 2 * kv_heads * kv_part_bytes(type, size);
      const RopeTable table(10000, size, 64);
      const Rope rope{pairs, size, table.cosine.data(), table.sine.data()};
      const std::int32_t positions[] = {0, 5, 40, 63}, slots[] = {0, 31, 16, 7};
      const std::vector<float> q = floats(random, rows * heads * size),
                               k = floats(random, rows * kv_heads * size);
      const std::vector<float> v = floats(random, rows * kv_heads * size);
      std::vector<float> q_want, k_want;
      std::vector<std::byte> kv_want;
      for (Isa isa : supported()) {
        std::vector<float> q_got = q, k_got = k;
        std::vector<std::byte> memory(static_cast<std::size_t>(4 * layer), std::byte{0xaa});
        std::byte* const pages[] = {memory.data() + 2 * layer, memory.data()};
        const PagedKv kv{pages, layer, kv_heads, size, type};
        const PagedKv* const all[] = {&kv, &kv, &kv, &kv};
        ops(isa).rope_append(rope, positions, slots, all, q_got.data(), heads, heads * size,
                             k_got.data(), v.data(), kv_heads * size, {0, rows});
        if (isa == Isa::PORTABLE) {
          q_want = q_got, k_want = k_got, kv_want = memory;
          const std::int64_t second = pairs == RopePairs::NORM ? 1 : size / 2;
          const double angle = 5;  // row 1, pair 0
          const double a = q[static_cast<std::size_t>(heads * size)],
                       b = q[static_cast<std::size_t>(heads * size + second)];
          REQUIRE(q_got[static_cast<std::size_t>(heads * size)] ==
                  Approx(a * std::cos(angle) - b * std::sin(angle)).margin(1e-6));
          REQUIRE(q_got[static_cast<std::size_t>(heads * size + second)] ==
                  Approx(b * std::cos(angle) + a * std::sin(angle)).margin(1e-6));
          const float tolerance = type == KvType::Q8_0 ? 0.02f : type == KvType::F16 ? 2e-3f : 0;
          for (std::int64_t e = 0; e < size; ++e) {  // row 1 lies in slot 31, head 1
            const std::size_t at = static_cast<std::size_t>(3 * size + e);
            REQUIRE(std::fabs(kv_value(kv, 31, 1, Part::KEYS, e) - k_got[at]) <= tolerance);
            REQUIRE(std::fabs(kv_value(kv, 31, 1, Part::VALUES, e) - v[at]) <= tolerance);
          }
          const auto untouched = std::count(memory.begin(), memory.end(), std::byte{0xaa});
          REQUIRE(untouched >= 4 * layer - rows * layer / kPageTokens);
        }
        INFO(name(isa) << ' ' << name(type) << " size " << size);
        REQUIRE(same_bits(q_got, q_want));
        REQUIRE(same_bits(k_got, k_want));
        REQUIRE(same_bits(memory, kv_want));
      }
    }
  }
}

TEST_CASE("a block of Q8_0 takes its largest number to 127 and shows one that is not finite") {
  for (Isa isa : supported()) {
    const std::int64_t size = 64;
    const RopeTable table(10000, size, 1);  // position 0: nothing turns
    const Rope rope{RopePairs::NEOX, size, table.cosine.data(), table.sine.data()};
    const std::int32_t zero[] = {0};
    std::vector<std::byte> memory(static_cast<std::size_t>(2 * kv_part_bytes(KvType::Q8_0, size)));
    std::byte* const pages[] = {memory.data()};
    const PagedKv kv{pages, 0, 1, size, KvType::Q8_0};
    const PagedKv* const all[] = {&kv};
    const auto stored = [&](std::vector<float> v) {
      std::vector<float> q(static_cast<std::size_t>(size)), k = v;
      ops(isa).rope_append(rope, zero, zero, all, q.data(), 1, size, k.data(), v.data(), size,
                           {0, 1});
      for (std::int64_t e = 0; e < size; ++e)
        v[static_cast<std::size_t>(e)] = kv_value(kv, 0, 0, Part::VALUES, e);
      return v;
    };
    INFO(name(isa));
    std::vector<float> v(static_cast<std::size_t>(size), 1);
    v[3] = -254, v[40] = 0.5f;
    const std::vector<float> kept = stored(v);
    CHECK((kept[3] == -254 && kept[0] == 0 && kept[40] == Approx(0.5).epsilon(0.01)));
    CHECK(stored(std::vector<float>(static_cast<std::size_t>(size)))[5] == 0);
    for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
      v[3] = bad;
      const std::vector<float> found = stored(v);
      CHECK((std::isnan(found[3]) && std::isnan(found[0]) && std::isfinite(found[40])));
    }
  }
}

}  // namespace redline::kernels
