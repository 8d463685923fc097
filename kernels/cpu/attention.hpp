// SPDX-License-Identifier: Apache-2.0
// reference/attention.cpp for many query heads at once: a tile of K and V is converted once for all
// rows that see the same slots in it. Include after a lanes_*.hpp.
#pragma once
#include "cpu/attention_tile.hpp"
#include "cpu/exponential.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kHeadsPerBlock = 32;  // query heads that share one walk over the pages

inline std::int64_t heads_of_block(std::int64_t group) {
  return group > kHeadsPerBlock ? group : kHeadsPerBlock / group * group;
}

// Query heads of a block: head i is head i % group of row i / group.
struct Block {
  const PagedKv* kv;
  const Visibility* sees;  // of the block's rows
  std::int64_t kv_head, rows, group;
  const float* q;  // first head of the first row
  std::int64_t q_stride;
  float *keys, *values;           // one tile
  float *sums, *largest, *total;  // [heads, E rounded to 16], [heads], [heads]
  std::int64_t row_floats;        // of sums and values

  const float* query(std::int64_t head) const {
    return q + head / group * q_stride + head % group * kv->head_size;
  }
  std::int64_t seen(std::int64_t row) const { return sees[row].prefix + sees[row].tail_size; }
};

// `count` positions of a tile, for heads [head, head + R).
template <int R>
void add_heads(const Block& block, std::int64_t head, std::int64_t count, float scale) {
  const std::int64_t size = block.kv->head_size;
  const float* q[R];
  Floats scores[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) q[r] = block.query(head + r), scores[r] = splat(0);
  for (std::int64_t e = 0; e < size; ++e) {
    const Floats keys = load(block.keys + e * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) scores[r] = fma(keys, splat(q[r][e]), scores[r]);
  }
  const Floats none = splat(-__builtin_inff());
  float weights[R][kLanes], differences[kLanes] = {}, shrink[kLanes];
  for (int r = 0; r < R; ++r) {
    const Floats score = first(scores[r] * splat(scale), count, none);
    const float before = block.largest[head + r], here = largest(larger(score, none));
    const float now = here > before ? here : before;
    block.largest[head + r] = now;
    differences[r] = before - now;
    scores[r] = first(exponential(score - splat(now)), count, splat(0));
    store(weights[r], scores[r]);
  }
  store(shrink, exponential(load(differences)));
  for (int r = 0; r < R; ++r)
    block.total[head + r] = __builtin_fmaf(block.total[head + r], shrink[r], sum(scores[r]));
  float* const sums = block.sums + head * block.row_floats;
  for (std::int64_t e = 0; e < block.row_floats; e += kLanes) {
    Floats part[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) part[r] = load(sums + r * block.row_floats + e) * splat(shrink[r]);
    for (std::int64_t i = 0; i < count; ++i) {
      const Floats values = load(block.values + i * block.row_floats + e);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) part[r] = fma(splat(weights[r][i]), values, part[r]);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) store(sums + r * block.row_floats + e, part[r]);
  }
}

template <int R = kHeadsAtOnce>
inline void add_some_heads(std::int64_t heads, const Block& block, std::int64_t head,
                           std::int64_t count, float scale) {
  if (heads == R) return add_heads<R>(block, head, count, scale);
  if constexpr (R > 1) add_some_heads<R - 1>(heads, block, head, count, scale);
}

// The slots of positions [begin, begin + count) of one row.
void find_slots(const Visibility& sees, std::int64_t begin, std::int64_t count,
                std::int64_t* slots) {
  for (std::int64_t i = 0; i < count; ++i)
    slots[i] = begin + i < sees.prefix ? begin + i : sees.tail[begin + i - sees.prefix];
}

std::int64_t visible(const Block& block, std::int64_t row, std::int64_t begin) {
  const std::int64_t left = block.seen(row) - begin;
  return left < 0 ? 0 : left < kPageTokens ? left : kPageTokens;
}

// Rows [first, end) that see the same slots in the tile, as far as each sees. Returns the end, and
// the slots of the one that sees most.
std::int64_t find_run(const Block& block, std::int64_t first, std::int64_t begin,
                      std::int64_t* slots, std::int64_t& count) {
  count = visible(block, first, begin);
  find_slots(block.sees[first], begin, count, slots);
  std::int64_t end = first + 1;
  for (; end < block.rows; ++end) {
    const std::int64_t more = visible(block, end, begin), common = more < count ? more : count;
    std::int64_t other[kLanes];
    find_slots(block.sees[end], begin, more, other);
    for (std::int64_t i = 0; i < common; ++i)
      if (other[i] != slots[i]) return end;
    for (std::int64_t i = common; i < more; ++i) slots[i] = other[i];
    count = more > count ? more : count;
  }
  return end;
}

void load_tile(const Block& block, const std::int64_t* slots, std::int64_t count) {
  const PagedKv& kv = *block.kv;
  const std::int64_t page_floats = kPageTokens * kv.head_size;
  TileRows rows;
  for (std::int64_t i = 0; i < kLanes; ++i) {
    const std::int64_t slot = slots[i < count ? i : 0];  // nothing unseen is read
    const std::byte* const layer = kv.pages[slot / kPageTokens] + kv.layer_offset;
    const auto* const keys = reinterpret_cast<const std::uint16_t*>(layer) +
                             block.kv_head * page_floats + slot % kPageTokens * kv.head_size;
    rows.key[i] = keys;
    rows.value[i] = keys + kv.kv_heads * page_floats;
  }
  load_keys(rows, kv.head_size, block.keys);
  load_values(rows, count, kv.head_size, block.values);
}

// One tile for all rows of the block.
void add_tile(const Block& block, std::int64_t begin, float scale) {
  for (std::int64_t row = 0, end; row < block.rows; row = end) {
    std::int64_t slots[kLanes], count;
    end = find_run(block, row, begin, slots, count);
    if (count > 0) load_tile(block, slots, count);
    for (std::int64_t same; row < end; row = same) {
      const std::int64_t sees = visible(block, row, begin);
      for (same = row + 1; same < end && visible(block, same, begin) == sees;) ++same;
      const std::int64_t heads = (same - row) * block.group;
      const std::int64_t passes = sees ? (heads + kHeadsAtOnce - 1) / kHeadsAtOnce : 0;
      for (std::int64_t pass = 0; pass < passes; ++pass) {
        const std::int64_t from = heads * pass / passes, to = heads * (pass + 1) / passes;
        add_some_heads(to - from, block, row * block.group + from, sees, scale);
      }
    }
  }
}

void attend(const Block& block, float* out, std::int64_t out_stride) {
  const std::int64_t heads = block.rows * block.group, size = block.kv->head_size;
  for (std::int64_t i = 0; i < heads * block.row_floats; i += kLanes)
    store(block.sums + i, splat(0));
  for (std::int64_t i = 0; i < heads; ++i) block.largest[i] = -__builtin_inff(), block.total[i] = 0;
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < block.rows; ++row)
    longest = block.seen(row) > longest ? block.seen(row) : longest;
  const float scale = 1.0f / __builtin_sqrtf(static_cast<float>(size));
  for (std::int64_t begin = 0; begin < longest; begin += kPageTokens) add_tile(block, begin, scale);
  for (std::int64_t head = 0; head < heads; ++head) {
    const Floats inverse = splat(1.0f / block.total[head]);
    float* const to = out + head / block.group * out_stride + head % block.group * size;
    for (std::int64_t e = 0; e < size; e += kLanes)
      store_first(to + e, load(block.sums + head * block.row_floats + e) * inverse,
                  size - e < kLanes ? size - e : kLanes);
  }
}

// keys, values, sums, largest and total, in floats
std::int64_t scratch_floats(std::int64_t group, std::int64_t head_size) {
  const std::int64_t row = round_up(head_size, kLanes);
  return 2 * kLanes * row + heads_of_block(group) * (row + 2);
}

std::int64_t scratch_bytes(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_size) {
  return 64 + scratch_floats(heads / kv_heads, head_size) * 4;
}

void attention(const PagedKv& kv, const Visibility* sees, const float* q, std::int64_t heads,
               std::int64_t q_stride, float* out, std::int64_t out_stride, std::int64_t kv_head,
               std::byte* scratch, Range rows) {
  const std::int64_t group = heads / kv.kv_heads, row_floats = round_up(kv.head_size, kLanes);
  const std::int64_t most = heads_of_block(group) / group, offset = kv_head * group * kv.head_size;
  const auto address = reinterpret_cast<std::uintptr_t>(scratch);
  auto* const keys = reinterpret_cast<float*>(scratch + (64 - address % 64) % 64);
  float* const values = keys + kLanes * row_floats;
  float* const sums = values + kLanes * row_floats;
  float* const largest = sums + heads_of_block(group) * row_floats;
  for (std::int64_t t = rows.begin; t < rows.end; t += most) {
    const std::int64_t count = rows.end - t < most ? rows.end - t : most;
    const Block block{&kv,       sees + t, kv_head, count, group,   q + t * q_stride + offset,
                      q_stride,  keys,     values,  sums,  largest, largest + heads_of_block(group),
                      row_floats};
    attend(block, out + t * out_stride + offset, out_stride);
  }
}

}  // namespace
}  // namespace redline::kernels
