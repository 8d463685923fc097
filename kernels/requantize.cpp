// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/requantize.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "blocks.hpp"
#include "half.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

constexpr int kLowest = -8, kHighest = 7;  // of a 4-bit weight
constexpr int kSteps = 7;                  // scales tried on either side, of each sign
constexpr float kStep = 0.15f;             // quants that the largest weight moves by

// The nearest whole number; even of two. Vectorises, where a call would not.
float nearest(float x) {
  constexpr float kRound = 0x1.8p23f;
  return (x + kRound) - kRound;
}

float quant(float x, float inverse) {
  const float q = nearest(x * inverse);
  const float low = q > kLowest ? q : kLowest;  // NaN too
  return low > kHighest ? kHighest : low;
}

float largest(const float* x) {  // in size, with its sign
  float most = 0;
  for (std::int64_t k = 0; k < kBlock; ++k)
    if (std::fabs(x[k]) > std::fabs(most)) most = x[k];
  return most;
}

struct Fit {
  float scale, gain;  // least squares at the quants of some scale; how much of sum x x it explains
};

Fit fit(const float* x, float inverse) {
  float xq[kLanes] = {}, qq[kLanes] = {};
  for (std::int64_t k = 0; k < kBlock; k += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const float q = quant(x[k + lane], inverse);
      xq[lane] += x[k + lane] * q;
      qq[lane] += q * q;
    }
  float product = 0, square = 0;
  for (std::int64_t lane = 0; lane < kLanes; ++lane) product += xq[lane], square += qq[lane];
  if (!(square > 0)) return {0, 0};
  return {product / square, product / square * product};
}

// The largest weight lies at about -8 or at about 7: the scale's sign decides which. A block that
// is not finite stays so.
float best_scale(const float* x) {
  const float most = largest(x), poison = std::accumulate(x, x + kBlock, 0.0f) * 0;
  if (most == 0 || poison != 0) return poison;
  Fit best{0, 0};
  for (const int end : {kLowest, kHighest})
    for (int step = -kSteps; step <= kSteps; ++step) {
      const Fit found = fit(x, (static_cast<float>(end) + kStep * static_cast<float>(step)) / most);
      if (found.gain > best.gain) best = found;
    }
  return best.scale;
}

}  // namespace

void quantize_row_q4_0(const float* row, std::int64_t cols, std::byte* file_row) {
  for (std::int64_t at = 0; at < cols;
       at += kBlock, file_row += info(WeightType::Q4_0).block_bytes) {
    const float* const x = row + at;
    const std::uint16_t bits = float_to_half(best_scale(x));
    const float scale = half_to_float(bits);
    const float inverse = scale == 0 ? 0 : 1 / scale;
    std::uint8_t q[kBlock];
    for (std::int64_t k = 0; k < kBlock; ++k)
      q[k] = static_cast<std::uint8_t>(static_cast<int>(quant(x[k], inverse)) - kLowest);
    std::memcpy(file_row, &bits, 2);
    for (std::int64_t k = 0; k < kBlock / 2; ++k)
      file_row[2 + k] = static_cast<std::byte>(q[k] | q[k + kBlock / 2] << 4);
  }
}

void gather_rows(const PackedMatrix& w, std::span<const std::int32_t> rows, std::byte* out) {
  const std::int64_t stride = tile_bytes(w.type, w.cols), width = info(w.type).block_bytes;
  const auto count = static_cast<std::int64_t>(rows.size());
  std::memset(out, 0, static_cast<std::size_t>(packed_bytes(w.type, count, w.cols)));
  Block block;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::byte* const from = w.data + rows[i] / kLanes * stride;
    std::byte* const to = out + i / kLanes * stride;
    const std::int64_t lane = rows[i] % kLanes, own = i % kLanes;
    if (is_float(w.type)) {
      for (std::int64_t k = 0; k < w.cols; ++k)
        std::memcpy(to + (k * kLanes + own) * width, from + (k * kLanes + lane) * width,
                    static_cast<std::size_t>(width));
      continue;
    }
    for (std::int64_t b = 0; b < w.cols / info(w.type).block_weights; ++b) {
      read_tile_block(w.type, from, lane, b, block);
      write_tile_block(w.type, to, own, b, block);
    }
  }
}

}  // namespace redline::kernels
