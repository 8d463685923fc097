// SPDX-License-Identifier: Apache-2.0
// The ops of a decoder layer, one table an instruction set. Each op works on a range of its output
// so that any number of threads may share it; no result depends on how the range was cut, on how
// many rows share the call, or on the instruction set (reductions run over 16 virtual lanes in a
// fixed tree, FMAs are explicit).
// Letters: T rows, D hidden, H heads, G kv heads, E head size, V vocabulary, P page tokens (16).
#pragma once
#include <cstddef>
#include <cstdint>

#include "redline/kernels/isa.hpp"
#include "redline/kernels/kv_page.hpp"
#include "redline/kernels/weights.hpp"

namespace redline::kernels {

// Rows quantised for the matmul (int8 with a float scale each 32 or 128 inputs, and what else the
// layouts need), in either grain or both. Opaque: sized and written by the kernels.
std::int64_t activation_bytes(std::int64_t rows, std::int64_t cols);
std::int64_t row_passes(std::int64_t rows);
inline constexpr std::int64_t kActivationColumns = 128;  // where a range of columns may begin

// The rows of a matmul: float weights read the one, all others the other.
struct Activations {
  const float* floats;         // [T, K]
  const std::byte* quantized;  // activation_bytes(T, K)
};

struct Range {
  std::int64_t begin, end;
};

// Rotary positions: angle = position * inv_freq[i]; NORM pairs (2i, 2i+1), NEOX pairs (i, i + E/2).
enum class RopePairs : std::uint8_t { NORM, NEOX };
struct Rope {
  RopePairs pairs;
  std::int64_t head_size;  // E; all of it rotates
  const float* cosine;     // [max positions, E/2]
  const float* sine;       // [max positions, E/2]
};
// cos and sin of position * base^(-2i/E) / divisor[i], computed alike on every machine.
void fill_rope_table(double base, const float* divisors /* [E/2] or null */, double scale,
                     std::int64_t head_size, std::int64_t positions, float* cosine, float* sine);

// One model's pages of one layer, and one sequence's list of them (kv_page.hpp). `layer_offset` is
// where this layer starts inside a page.
struct PagedKv {
  std::byte* const* pages;    // [ceil(slots / 16)] page starts of this sequence, in slot order
  std::int64_t layer_offset;  // bytes
  std::int64_t kv_heads, head_size;
  KvType type = KvType::F16;
};

// Who a row sees: slots [0, prefix) in order, then tail[0..tail_size) slots, which are the
// positions prefix, prefix+1, ... . A row's own slot is the last one it sees.
struct Visibility {
  std::int64_t prefix;
  const std::int32_t* tail;
  std::int64_t tail_size;
};

struct Spread {  // of p = softmax(logits), in nats
  double log_sum_exp, entropy;
};
inline constexpr std::int64_t kMaximaBlock = 64;

struct Ops {
  Isa isa;

  // x [T, columns] -> their place in out [activation_bytes(T, cols)]: passes of the range, of
  // row_passes(T), whose rows lie in the same lines of memory, so that two threads would only wait
  // for each other there. columns.begin is a multiple of kActivationColumns.
  void (*quantize)(const float* x, std::int64_t stride, std::int64_t rows, std::int64_t cols,
                   Grain grain, std::byte* out, Range passes, Range columns);

  // out[t, n] = sum_k w[n, k] x[t, k] + bias[n]; range of tiles (16 n each); bias may be null.
  void (*matmul)(const PackedMatrix& w, const Activations& x, std::int64_t rows, const float* bias,
                 float* out, std::int64_t out_stride, Range tiles);

  // out[i] = dequantised row tokens[i] of w, [range, cols].
  void (*embed)(const PackedMatrix& w, const std::int32_t* tokens, float* out, Range rows);

  // x += delta (delta may be null), then out = x / rms(x) * weight; rows of the range.
  void (*add_rms_norm)(float* x, const float* delta, const float* weight, float epsilon,
                       std::int64_t cols, float* out, Range rows);

  // out = silu(gate) * up, [T, width], rows of the range.
  void (*swiglu)(const float* gate, const float* up, std::int64_t width, std::int64_t stride,
                 float* out, Range rows);

  // Rotates q [T, H, E] and k [T, G, E] in place (row strides given), writes k and v to the row's
  // slot; rows of the range. slots [T], positions [T], kv [T]: each row's own sequence.
  void (*rope_append)(const Rope& rope, const std::int32_t* positions, const std::int32_t* slots,
                      const PagedKv* const* kv, float* q, std::int64_t heads, std::int64_t q_stride,
                      float* k, const float* v, std::int64_t kv_stride, Range rows);

  // out[t, h] = softmax(q . K / sqrt(E)) V over what the row sees, in tiles of whole pages in
  // position order, for the H/G query heads of one kv head, rows of the range; all rows are of one
  // sequence. scratch: attention_scratch_bytes().
  void (*attention)(const PagedKv& kv, const Visibility* sees, const float* q, std::int64_t heads,
                    std::int64_t q_stride, float* out, std::int64_t out_stride,
                    std::int64_t kv_head, std::byte* scratch, Range rows);
  std::int64_t (*attention_scratch_bytes)(std::int64_t heads, std::int64_t kv_heads,
                                          std::int64_t head_size);

  // Of one row of logits [V]. Ties go to the lowest id.
  std::int64_t (*argmax)(const float* logits, std::int64_t vocab);
  Spread (*spread)(const float* logits, std::int64_t vocab);
  // p = softmax(logits) with the exp of these kernels; -inf gives exactly 0. Returns what spread
  // does: NaNs if there is a NaN or no finite logit, and p is then unspecified.
  Spread (*softmax)(const float* logits, std::int64_t vocab, float* p);
  // The greatest of each kMaximaBlock logits, NaNs passed over: maxima [ceil(V / kMaximaBlock)].
  // False when a NaN or +inf is among the logits.
  bool (*block_maxima)(const float* logits, std::int64_t vocab, float* maxima);
};

const Ops& ops(Isa isa);  // throws std::invalid_argument when this machine lacks it

}  // namespace redline::kernels
