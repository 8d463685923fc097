// SPDX-License-Identifier: Apache-2.0
// Online softmax over tiles of 16 positions (2205.14135, algorithm 1, one query at a time). Only
// what a row sees is read.
#include <cmath>
#include <limits>

#include "families.hpp"
#include "reference/kv_values.hpp"
#include "reference/lanes.hpp"

namespace redline::kernels {
namespace {

std::int64_t slot_of(const Visibility& sees, std::int64_t position) {
  return position < sees.prefix ? position : sees.tail[position - sees.prefix];
}

// State of one query head: out [E] holds sum p V, relative to exp(-largest).
struct Running {
  float largest = -std::numeric_limits<float>::infinity();
  float sum = 0;
};

// Positions [begin, begin + count) of a tile; count <= 16.
void add_tile(const PagedKv& kv, const Visibility& sees, std::int64_t kv_head, std::int64_t begin,
              std::int64_t count, const float* q, Running& state, float* out) {
  const std::int64_t size = kv.head_size;
  const float scale = 1.0f / std::sqrt(static_cast<float>(size));
  float weights[kLanes] = {}, largest = state.largest;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t slot = slot_of(sees, begin + i);
    float dot = 0;
    for (std::int64_t e = 0; e < size; ++e)
      dot = std::fma(kv_value(kv, slot, kv_head, Part::KEYS, e), q[e], dot);
    weights[i] = dot * scale;
    if (weights[i] > largest) largest = weights[i];
  }
  for (std::int64_t i = 0; i < count; ++i) weights[i] = exp32(weights[i] - largest);
  const float shrink = exp32(state.largest - largest);
  state.largest = largest;
  state.sum = std::fma(state.sum, shrink, sum_lanes(weights));
  for (std::int64_t e = 0; e < size; ++e) out[e] = out[e] * shrink;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t slot = slot_of(sees, begin + i);
    for (std::int64_t e = 0; e < size; ++e)
      out[e] = std::fma(weights[i], kv_value(kv, slot, kv_head, Part::VALUES, e), out[e]);
  }
}

void attend(const PagedKv& kv, const Visibility& sees, std::int64_t kv_head, const float* q,
            float* out) {
  Running state;
  const std::int64_t count = sees.prefix + sees.tail_size;
  for (std::int64_t e = 0; e < kv.head_size; ++e) out[e] = 0;
  for (std::int64_t begin = 0; begin < count; begin += kPageTokens) {
    const std::int64_t left = count - begin;
    add_tile(kv, sees, kv_head, begin, left < kPageTokens ? left : kPageTokens, q, state, out);
  }
  const float inverse = 1.0f / state.sum;
  for (std::int64_t e = 0; e < kv.head_size; ++e) out[e] = out[e] * inverse;
}

void attention(const PagedKv& kv, const Visibility* sees, const float* q, std::int64_t heads,
               std::int64_t q_stride, float* out, std::int64_t out_stride, std::int64_t kv_head,
               std::byte*, Range rows) {
  const std::int64_t group = heads / kv.kv_heads, size = kv.head_size;
  for (std::int64_t t = rows.begin; t < rows.end; ++t)
    for (std::int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h)
      attend(kv, sees[t], kv_head, q + t * q_stride + h * size, out + t * out_stride + h * size);
}

std::int64_t scratch_bytes(std::int64_t, std::int64_t, std::int64_t) { return 0; }

}  // namespace

void install_reference_attention(Ops& ops) {
  ops.attention = attention;
  ops.attention_scratch_bytes = scratch_bytes;
}

}  // namespace redline::kernels
