// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/kv_values.hpp"
#include "samples.hpp"

namespace redline::kernels {
namespace {

using namespace samples;

constexpr KvType kKvTypes[] = {KvType::F16, KvType::F32, KvType::Q8_0};

// Pages of one sequence, scattered in memory, every slot NaN until written; the layer is the second
// one of its page.
struct Cache {
  std::int64_t kv_heads, head_size, layer_bytes;
  KvType type;
  std::vector<std::vector<std::byte>> pages;
  std::vector<std::byte*> list;

  Cache(KvType of, std::int64_t g, std::int64_t e, std::int64_t slots)
      : kv_heads(g), head_size(e), layer_bytes(2 * g * kv_part_bytes(of, e)), type(of) {
    for (std::int64_t page = 0; page * kPageTokens < slots; ++page)
      pages.emplace_back(static_cast<std::size_t>(2 * layer_bytes), std::byte{0xff});
    for (auto& page : pages) list.push_back(page.data());
  }
  PagedKv view() const { return {list.data(), layer_bytes, kv_heads, head_size, type}; }

  double at(std::int64_t slot, std::int64_t head, Part part, std::int64_t e) const {
    return double{kv_value(view(), slot, head, part, e)};
  }
  // The K and V of `position`, whatever slot holds it.
  void write(std::int64_t slot, std::uint64_t position) {
    Random random(position);
    for (std::int64_t head = 0; head < kv_heads; ++head)
      for (const Part part : {Part::KEYS, Part::VALUES})
        store_slot(view(), slot, head, part, floats(random, head_size).data());
  }
};

struct Shape {
  std::int64_t heads, kv_heads, head_size;
};

std::vector<float> attend(const Ops& table, const Cache& cache, const Shape& shape,
                          const std::vector<Visibility>& sees, const std::vector<float>& q) {
  const std::int64_t rows = std::ssize(sees), width = shape.heads * shape.head_size;
  std::vector<float> out(static_cast<std::size_t>(rows * width));
  const std::int64_t bytes =
      table.attention_scratch_bytes(shape.heads, shape.kv_heads, shape.head_size);
  std::vector<std::byte> scratch(static_cast<std::size_t>(bytes), std::byte{0xff});
  for (std::int64_t head = 0; head < shape.kv_heads; ++head)
    table.attention(cache.view(), sees.data(), q.data(), shape.heads, width, out.data(), width,
                    head, scratch.data(), {0, rows});
  return out;
}

std::vector<float> row_of(const std::vector<float>& all, std::int64_t row, std::int64_t width) {
  return {all.begin() + row * width, all.begin() + (row + 1) * width};
}

const Shape kShapes[] = {{9, 3, 64}, {12, 2, 128}, {2, 2, 16}, {8, 1, 24}, {5, 5, 20}, {40, 1, 32}};

std::vector<std::pair<Shape, KvType>> cases() {
  std::vector<std::pair<Shape, KvType>> all;
  for (const Shape& shape : kShapes)
    for (const KvType type : kKvTypes)
      if (shape.head_size % kv_block(type) == 0) all.emplace_back(shape, type);
  return all;
}

}  // namespace

TEST_CASE("attention is softmax(q K / sqrt E) V, computed in float64") {
  for (const auto& [shape, type] : cases()) {
    Cache cache(type, shape.kv_heads, shape.head_size, 50);
    for (std::int64_t slot = 0; slot < 37; ++slot)
      cache.write(slot, static_cast<std::uint64_t>(slot));
    Random random(1);
    const std::int64_t width = shape.heads * shape.head_size;
    const std::vector<float> q = floats(random, width, 3);
    const std::vector<float> out = attend(ops(Isa::PORTABLE), cache, shape, {{37, nullptr, 0}}, q);
    for (std::int64_t h = 0; h < shape.heads; ++h) {
      const std::int64_t g = h / (shape.heads / shape.kv_heads), size = shape.head_size;
      std::vector<double> weights, want(static_cast<std::size_t>(size));
      for (std::int64_t slot = 0; slot < 37; ++slot) {
        double dot = 0;
        for (std::int64_t e = 0; e < size; ++e)
          dot += cache.at(slot, g, Part::KEYS, e) * q[static_cast<std::size_t>(h * size + e)];
        weights.push_back(std::exp(dot / std::sqrt(static_cast<double>(size))));
      }
      const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
      for (std::int64_t slot = 0; slot < 37; ++slot)
        for (std::int64_t e = 0; e < size; ++e)
          want[static_cast<std::size_t>(e)] +=
              weights[static_cast<std::size_t>(slot)] / total * cache.at(slot, g, Part::VALUES, e);
      for (std::int64_t e = 0; e < size; ++e)
        REQUIRE(out[static_cast<std::size_t>(h * size + e)] ==
                Approx(want[static_cast<std::size_t>(e)]).margin(2e-5));
    }
  }
}

TEST_CASE("attention over a prefill gives the reference's bits on every instruction set") {
  for (const auto& [shape, type] : cases()) {
    for (std::int64_t rows : {1, 2, 3, 5, 8, 16, 33, 65}) {
      for (std::int64_t before : {0, 15, 70}) {
        Cache cache(type, shape.kv_heads, shape.head_size, before + rows);
        std::vector<Visibility> sees;
        for (std::int64_t slot = 0; slot < before + rows; ++slot)
          cache.write(slot, static_cast<std::uint64_t>(slot));
        for (std::int64_t t = 0; t < rows; ++t) sees.push_back({before + t + 1, nullptr, 0});
        Random random(2);
        const std::vector<float> q = floats(random, rows * shape.heads * shape.head_size);
        const std::vector<float> want = attend(ops(Isa::PORTABLE), cache, shape, sees, q);
        for (Isa isa : supported()) {
          INFO(name(isa) << ' ' << name(type) << " E " << shape.head_size << " rows " << rows
                         << " before " << before);
          REQUIRE(same_bits(attend(ops(isa), cache, shape, sees, q), want));
        }
      }
    }
  }
}

TEST_CASE("a row of a draft tree gets plain decoding's bits, whatever its neighbours hold") {
  Random random(3);
  const auto all = cases();
  for (std::size_t trial = 0; trial < 8 * all.size(); ++trial) {
    const auto& [shape, type] = all[trial % all.size()];
    const std::int64_t width = shape.heads * shape.head_size;
    const std::int64_t prefix = static_cast<std::int64_t>(random() % 60),
                       nodes = 1 + static_cast<std::int64_t>(random() % 40);
    Cache tree(type, shape.kv_heads, shape.head_size, prefix + nodes + 16);
    for (std::int64_t slot = 0; slot < prefix; ++slot)
      tree.write(slot, static_cast<std::uint64_t>(slot));
    // Node i's parent is any earlier node, or the prefix; slots are in node order. One node in five
    // holds NaNs: a branch that went wrong must not be felt outside its own descendants.
    std::vector<std::vector<std::int32_t>> tails;
    std::vector<bool> sound;
    std::vector<std::uint64_t> keys;  // what the node's slot was written from
    for (std::int64_t i = 0; i < nodes; ++i) {
      const std::int64_t parent =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(i + 1)) - 1;
      std::vector<std::int32_t> tail =
          parent < 0 ? std::vector<std::int32_t>{} : tails[static_cast<std::size_t>(parent)];
      tail.push_back(static_cast<std::int32_t>(prefix + i));
      const bool whole = random() % 5 != 0;
      sound.push_back(whole && (parent < 0 || sound[static_cast<std::size_t>(parent)]));
      keys.push_back(random());
      if (whole) tree.write(prefix + i, keys.back());
      tails.push_back(tail);
    }
    std::vector<Visibility> sees;
    for (const auto& tail : tails) sees.push_back({prefix, tail.data(), std::ssize(tail)});
    const std::vector<float> q = floats(random, nodes * width);
    for (Isa isa : supported()) {
      const std::vector<float> out = attend(ops(isa), tree, shape, sees, q);
      for (std::int64_t i = 0; i < nodes; ++i) {
        if (!sound[static_cast<std::size_t>(i)]) continue;
        const auto& tail = tails[static_cast<std::size_t>(i)];
        Cache plain(type, shape.kv_heads, shape.head_size, prefix + std::ssize(tail));
        for (std::int64_t slot = 0; slot < prefix; ++slot)
          plain.write(slot, static_cast<std::uint64_t>(slot));
        for (std::int64_t j = 0; j < std::ssize(tail); ++j)
          plain.write(prefix + j,
                      keys[static_cast<std::size_t>(tail[static_cast<std::size_t>(j)] - prefix)]);
        const std::vector<float> alone = attend(
            ops(isa), plain, shape, {{prefix + std::ssize(tail), nullptr, 0}}, row_of(q, i, width));
        INFO(name(isa) << " trial " << trial << " node " << i);
        REQUIRE(same_bits(row_of(out, i, width), alone));
        REQUIRE(std::isfinite(alone[0]));
      }
    }
  }
}

}  // namespace redline::kernels
