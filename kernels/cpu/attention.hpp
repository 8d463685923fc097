// SPDX-License-Identifier: Apache-2.0
// reference/attention.cpp for many query heads at once: one walk over the pages of a kv head for
// all rows of a block and the whole query group. Include after a lanes_*.hpp.
#pragma once
#include "cpu/attention_heads.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kRowsPerBlock = 16, kHeadsPerBlock = 128;  // share a walk over the pages

inline std::int64_t at_most(std::int64_t x, std::int64_t most) { return x < most ? x : most; }
inline std::int64_t shares(std::int64_t count, std::int64_t most) {
  return (count + most - 1) / most;
}
inline std::int64_t rows_of_block(std::int64_t group) {
  return group > kHeadsPerBlock ? 1 : at_most(kHeadsPerBlock / group, kRowsPerBlock);
}

// Query heads of a block: head i is head i % group of row i / group.
struct Block {
  const PagedKv* kv;
  const Visibility* sees;  // of the block's rows
  std::int64_t kv_head, rows, group;
  const float* q;  // first head of the first row
  std::int64_t q_stride;
  Heads heads;
  FloatTile* tiles;  // [kTilesAtOnce], room for converted ones
  Pass* passes;      // [rows * shares(group, kHeadsAtOnce)]

  const float* query(std::int64_t head) const {
    return q + head / group * q_stride + head % group * kv->head_size;
  }
  std::int64_t seen(std::int64_t row) const { return sees[row].prefix + sees[row].tail_size; }
  std::int64_t seen_of_span(std::int64_t row, std::int64_t begin) const {
    const std::int64_t left = seen(row) - begin;
    return left < 0 ? 0 : at_most(left, kSpan);
  }
};

// Rows [first, end) that see the same slots of a span, as far as each sees.
struct Run {
  std::int64_t first, end;
  std::int64_t begin, count;  // of the span; positions that the leader sees
  const Visibility* leader;   // the row that sees most of it

  std::int64_t tiles() const { return shares(count, kLanes); }
  Slots slots(std::int64_t tile) const {
    const std::int64_t at = begin + tile * kLanes;
    return {leader, at, at_most(begin + count - at, kLanes)};
  }
};

bool agree(const Visibility& a, const Visibility& b, std::int64_t begin, std::int64_t end) {
  const std::int64_t same = a.prefix < b.prefix ? a.prefix : b.prefix;
  for (std::int64_t p = begin > same ? begin : same; p < end; ++p)
    if (Slots{&a, p, 1}[0] != Slots{&b, p, 1}[0]) return false;
  return true;
}

Run find_run(const Block& block, std::int64_t first, std::int64_t begin) {
  Run run{first, first + 1, begin, block.seen_of_span(first, begin), block.sees + first};
  for (; run.end < block.rows; ++run.end) {
    const std::int64_t more = block.seen_of_span(run.end, begin);
    const Visibility& next = block.sees[run.end];
    if (!agree(*run.leader, next, begin, begin + at_most(more, run.count))) return run;
    if (more > run.count) run.count = more, run.leader = &next;
  }
  return run;
}

// The queries of heads [head, head + count), element by element: mostly those of the span before.
void set_heads(const Block& block, std::int64_t head, std::int64_t count, Pass& pass) {
  if (pass.head == head && pass.count == count) return;
  pass.head = head;
  pass.count = count;
  for (std::int64_t r = 0; r < count; ++r) {
    const float* const q = block.query(head + r);
    for (std::int64_t e = 0; e < block.kv->head_size; ++e) pass.q[e * kHeadsAtOnce + r] = q[e];
  }
}

// Rows of a run that see as much are one list of heads, cut evenly. Returns how many passes.
std::int64_t find_passes(const Block& block, const Run& run) {
  std::int64_t found = 0;
  for (std::int64_t row = run.first, same; row < run.end; row = same) {
    const std::int64_t sees = block.seen_of_span(row, run.begin);
    for (same = row + 1; same < run.end && block.seen_of_span(same, run.begin) == sees;) ++same;
    const std::int64_t heads = (same - row) * block.group;
    const std::int64_t passes = sees ? shares(heads, kHeadsAtOnce) : 0;
    for (std::int64_t i = 0; i < passes; ++i) {
      const std::int64_t from = heads * i / passes, to = heads * (i + 1) / passes;
      Pass& pass = block.passes[found++];
      set_heads(block, row * block.group + from, to - from, pass);
      pass.positions = sees;
    }
  }
  return found;
}

// Pages as they are.
template <class Element>
void add_pages(const Block& block, const Run& run, std::int64_t passes) {
  PageTile<Element> tiles[kTilesAtOnce];
  for (std::int64_t j = 0; j < kTilesAtOnce; ++j)  // a tile that nobody sees: any page
    tiles[j] = tile_of<Element>(*block.kv, block.kv_head, run.slots(j < run.tiles() ? j : 0));
  for (std::int64_t i = 0; i < passes; ++i)
    weigh_keys(block.heads, tiles, block.kv->head_size, block.passes[i]);
  for (std::int64_t i = 0; i < passes; ++i) add_values(block.heads, tiles, block.passes[i]);
}

// Converted once for all heads, K and V one after the other: each half fits the first cache.
template <class Element>
void add_converted(const Block& block, const Run& run, std::int64_t passes) {
  for (std::int64_t j = 0; j < run.tiles(); ++j)
    convert_keys<Element>(*block.kv, block.kv_head, run.slots(j), block.tiles[j]);
  for (std::int64_t i = 0; i < passes; ++i)
    weigh_keys(block.heads, block.tiles, block.kv->head_size, block.passes[i]);
  for (std::int64_t j = 0; j < run.tiles(); ++j)
    convert_values<Element>(*block.kv, block.kv_head, run.slots(j), block.tiles[j]);
  for (std::int64_t i = 0; i < passes; ++i) add_values(block.heads, block.tiles, block.passes[i]);
}

template <class Element>
void walk(const Block& block) {
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < block.rows; ++row)
    longest = block.seen(row) > longest ? block.seen(row) : longest;
  for (std::int64_t begin = 0; begin < longest; begin += kSpan) {
    for (std::int64_t row = 0; row < block.rows;) {
      const Run run = find_run(block, row, begin);
      row = run.end;
      if (run.count == 0) continue;
      const std::int64_t passes = find_passes(block, run);
      const bool is_paged = run.begin + run.count <= run.leader->prefix;
      if (is_paged && passes <= kPassesOfPages && block.kv->head_size % kLanes == 0)
        add_pages<Element>(block, run, passes);
      else
        add_converted<Element>(block, run, passes);
    }
  }
}

void begin(const Block& block) {
  const std::int64_t heads = block.rows * block.group;
  const std::int64_t passes = block.rows * shares(block.group, kHeadsAtOnce);
  for (std::int64_t i = 0; i < heads * block.heads.row_floats; i += kLanes)
    store(block.heads.sums + i, splat(0));
  for (std::int64_t i = 0; i < heads; ++i)
    block.heads.largest[i] = -__builtin_inff(), block.heads.total[i] = 0;
  for (std::int64_t i = 0; i < passes; ++i) block.passes[i].count = 0;
}

void finish(const Block& block, float* out, std::int64_t out_stride) {
  const std::int64_t heads = block.rows * block.group, size = block.kv->head_size;
  for (std::int64_t head = 0; head < heads; ++head) {
    const Floats inverse = splat(1.0f / block.heads.total[head]);
    const float* const sums = block.heads.sums + head * block.heads.row_floats;
    float* const to = out + head / block.group * out_stride + head % block.group * size;
    for (std::int64_t e = 0; e < size; e += kLanes)
      store_first(to + e, load(sums + e) * inverse, at_most(size - e, kLanes));
  }
}

void attend(const Block& block, float* out, std::int64_t out_stride) {
  begin(block);
  switch (block.kv->type) {
    case KvType::F16:
      walk<std::uint16_t>(block);
      break;
    case KvType::F32:
      walk<float>(block);
      break;
    case KvType::Q8_0:
      walk<std::int8_t>(block);
      break;
  }
  finish(block, out, out_stride);
}

// The parts of a scratch, one behind the other; without memory only their size counts.
struct Scratch {
  std::uintptr_t at;
  bool has_memory;

  float* floats(std::int64_t count) {
    auto* const found = reinterpret_cast<float*>(at);
    at += static_cast<std::uintptr_t>(align64(count * 4));
    return found;
  }
  Block block_of(const PagedKv& kv, std::int64_t group, FloatTile* tiles) {
    const std::int64_t row = round_up(kv.head_size, kLanes), rows = rows_of_block(group);
    const std::int64_t heads = rows * group, passes = rows * shares(group, kHeadsAtOnce);
    for (int j = 0; j < kTilesAtOnce; ++j)
      tiles[j] = {floats(kLanes * row), floats(kLanes * row), row};
    Block block{&kv, nullptr, 0, rows, group, nullptr, 0, {}, tiles, nullptr};
    block.heads = {floats(heads * row), floats(heads), floats(heads), row,
                   1.0f / __builtin_sqrtf(static_cast<float>(kv.head_size))};
    block.passes = reinterpret_cast<Pass*>(floats(passes * std::int64_t{sizeof(Pass)} / 4));
    for (std::int64_t i = 0; i < passes; ++i) {
      float* const q = floats(kHeadsAtOnce * kv.head_size);
      if (has_memory) block.passes[i].q = q;
    }
    return block;
  }
};

std::int64_t scratch_bytes(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_size) {
  const PagedKv kv{nullptr, 0, kv_heads, head_size};
  FloatTile tiles[kTilesAtOnce];
  Scratch scratch{0, false};
  scratch.block_of(kv, heads / kv_heads, tiles);
  return static_cast<std::int64_t>(scratch.at) + 64;
}

void attention(const PagedKv& kv, const Visibility* sees, const float* q, std::int64_t heads,
               std::int64_t q_stride, float* out, std::int64_t out_stride, std::int64_t kv_head,
               std::byte* scratch, Range rows) {
  const std::int64_t group = heads / kv.kv_heads, offset = kv_head * group * kv.head_size;
  FloatTile tiles[kTilesAtOnce];
  Scratch parts{(reinterpret_cast<std::uintptr_t>(scratch) + 63) / 64 * 64, true};
  Block block = parts.block_of(kv, group, tiles);
  block.kv_head = kv_head;
  block.q_stride = q_stride;
  const std::int64_t most = block.rows;
  for (std::int64_t t = rows.begin; t < rows.end; t += most) {
    block.sees = sees + t;
    block.rows = at_most(rows.end - t, most);
    block.q = q + t * q_stride + offset;
    attend(block, out + t * out_stride + offset, out_stride);
  }
}

}  // namespace
}  // namespace redline::kernels
