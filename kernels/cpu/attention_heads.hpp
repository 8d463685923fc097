// SPDX-License-Identifier: Apache-2.0
// Some query heads meet a span of positions: scores, their softmax so far, and the weighted sums of
// V, with all accumulators in registers. Include after a lanes_*.hpp.
#pragma once
#include "cpu/attention_tile.hpp"
#include "cpu/exponential.hpp"

namespace redline::kernels {
namespace {

constexpr int kTilesAtOnce = kAbreast;
constexpr std::int64_t kSpan = kTilesAtOnce * kLanes;  // positions
static_assert(kHeadsAtOnce <= 8);                      // sum_each

// What query heads have seen so far.
struct Heads {
  float *sums, *largest, *total;  // [heads, row_floats], [heads], [heads]
  std::int64_t row_floats;        // E rounded to 16
  float scale;                    // of scores: 1 / sqrt(E)
};

// Heads [head, head + count) meet the first `positions` of a span.
struct Pass {
  std::int64_t head, count, positions;
  float* q;  // [E, kHeadsAtOnce], so that one pointer leads to all heads
  alignas(64) float weights[kHeadsAtOnce][kSpan];
  float shrink[kTilesAtOnce][kHeadsAtOnce];  // what is done to the sums before a tile is added
  bool shrinks[kTilesAtOnce];
};

// weights[r][i] = q[r] . K[i], one element after the other
template <int R, class Tile>
void score(const Tile* tiles, std::int64_t size, Pass& pass) {
  Floats sums[R][kTilesAtOnce];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < kTilesAtOnce; ++j) sums[r][j] = splat(0);
  const float* q = pass.q;
  for (std::int64_t e = 0; e < size; ++e, q += kHeadsAtOnce) {
    Floats keys[kTilesAtOnce];
#pragma GCC unroll 2
    for (int j = 0; j < kTilesAtOnce; ++j) keys[j] = tiles[j].key(e);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
      for (int j = 0; j < kTilesAtOnce; ++j) sums[r][j] = fma(keys[j], splat(q[r]), sums[r][j]);
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int j = 0; j < kTilesAtOnce; ++j) store(pass.weights[r] + j * kLanes, sums[r][j]);
}

// sum() of each of eight, with a third of the steps.
inline __m256 sum_each(const Floats* x) {
  __m256 fours[4], twos[2];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    const __m256 a = fold(x[i]), b = fold(x[i + 4]);
    fours[i] =
        _mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i)
    twos[i] = _mm256_add_ps(_mm256_shuffle_ps(fours[2 * i], fours[2 * i + 1], 0x44),
                            _mm256_shuffle_ps(fours[2 * i], fours[2 * i + 1], 0xee));
  return _mm256_add_ps(_mm256_shuffle_ps(twos[0], twos[1], 0x88),
                       _mm256_shuffle_ps(twos[0], twos[1], 0xdd));
}

// The first count scores of tile j become weights, relative to the largest score so far.
template <int R>
void weigh(const Heads& heads, int j, std::int64_t count, Pass& pass) {
  const Floats none = splat(-__builtin_inff());
  float differences[kLanes] = {};
  Floats parts[8];
  bool grew = false;
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) parts[r] = splat(0);
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    float* const at = pass.weights[r] + j * kLanes;
    const Floats score = first(load(at) * splat(heads.scale), count, none);
    float& most = heads.largest[pass.head + r];
    if (any_above(score, splat(most)) || !(most > -__builtin_inff())) {
      const float before = most, here = largest(larger(score, none));
      most = here > before ? here : before;
      differences[r] = before - most;
      grew = true;
    }
    parts[r] = first(exponential(score - splat(most)), count, splat(0));
    store(at, parts[r]);
  }
  float sums[8], shrink[kLanes];
  _mm256_storeu_ps(sums, sum_each(parts));
  store(shrink, grew ? exponential(load(differences)) : splat(1));
  pass.shrinks[j] = grew;
  for (int r = 0; r < R; ++r) {
    float& total = heads.total[pass.head + r];
    total = __builtin_fmaf(total, shrink[r], sums[r]);
    pass.shrink[j][r] = shrink[r];
  }
}

// sums = sums * shrink + weights . V, tile by tile, in C columns of sixteen from e
template <int R, int C, class Tile>
void add_columns(const Tile* tiles, const Pass& pass, std::int64_t e, float* sums,
                 std::int64_t row_floats) {
  Floats part[R][C];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int c = 0; c < C; ++c) part[r][c] = load(sums + r * row_floats + e + c * kLanes);
  for (int j = 0; j * kLanes < pass.positions; ++j) {
    if (pass.shrinks[j]) {
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int c = 0; c < C; ++c) part[r][c] = part[r][c] * splat(pass.shrink[j][r]);
    }
    const std::int64_t left = pass.positions - j * kLanes, rows = left < kLanes ? left : kLanes;
    for (std::int64_t i = 0; i < rows; ++i) {
      Floats values[C];
#pragma GCC unroll 2
      for (int c = 0; c < C; ++c) values[c] = tiles[j].value(i, e + c * kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
        for (int c = 0; c < C; ++c)
          part[r][c] = fma(splat(pass.weights[r][j * kLanes + i]), values[c], part[r][c]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r)
#pragma GCC unroll 2
    for (int c = 0; c < C; ++c) store(sums + r * row_floats + e + c * kLanes, part[r][c]);
}

template <int R = kHeadsAtOnce, class Tile>
void weigh_keys(const Heads& heads, const Tile* tiles, std::int64_t size, Pass& pass) {
  if (pass.count == R) {
    score<R>(tiles, size, pass);
    for (int j = 0; j * kLanes < pass.positions; ++j) {
      const std::int64_t left = pass.positions - j * kLanes;
      weigh<R>(heads, j, left < kLanes ? left : kLanes, pass);
    }
  } else if constexpr (R > 1) {
    weigh_keys<R - 1>(heads, tiles, size, pass);
  }
}

template <int R = kHeadsAtOnce, class Tile>
void add_values(const Heads& heads, const Tile* tiles, const Pass& pass) {
  if (pass.count == R) {
    float* const sums = heads.sums + pass.head * heads.row_floats;
    constexpr std::int64_t kStep = kAbreast * kLanes;
    std::int64_t e = 0;
    for (; e + kStep <= heads.row_floats; e += kStep)
      add_columns<R, kAbreast>(tiles, pass, e, sums, heads.row_floats);
    if (e < heads.row_floats) add_columns<R, 1>(tiles, pass, e, sums, heads.row_floats);
  } else if constexpr (R > 1) {
    add_values<R - 1>(heads, tiles, pass);
  }
}

}  // namespace
}  // namespace redline::kernels
