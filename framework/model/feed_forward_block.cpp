// SPDX-License-Identifier: Apache-2.0
#include "model/pass.hpp"

namespace redline::model {
namespace {

constexpr std::int64_t kStep = kernels::kActivationColumns;

std::int64_t steps_of(std::int64_t columns) { return (columns + kStep - 1) / kStep; }

// Some columns from gate and up to what `down` reads, in memory of the worker's own: the caches of
// two cores that write the same lines in turns pass each of them on, which costs more than what is
// done with it.
void activate(const Pass& pass, const LayerWeights& layer, kernels::Range columns, float* scratch) {
  const Buffers& b = pass.buffers;
  const kernels::Ops& ops = pass.ops();
  const std::int64_t rows = pass.rows(), count = columns.end - columns.begin;
  const std::int64_t width = pass.architecture.shape.feed_forward;
  float* const gate = scratch;  // [T, 2 count], up beside it
  float* const activated = scratch + rows * 2 * count;
  const kernels::Activations x{b.normed, b.quantized};
  float* out = gate;
  for (const kernels::PackedMatrix* whole : {&layer.gate, &layer.up}) {
    const kernels::PackedMatrix w = rows_of(*whole, columns.begin, columns.end);
    ops.matmul(w, x, rows, nullptr, out, 2 * count, {0, w.tiles()});
    out += count;
  }
  const bool is_plain = is_float(layer.down.type);
  for (std::int64_t row = 0; row < rows; ++row)
    ops.swiglu(gate + row * 2 * count, gate + row * 2 * count + count, count, 0,
               is_plain ? b.activated + row * width + columns.begin : activated + row * count,
               {0, 1});
  if (!is_plain)
    ops.quantize(activated, count, rows, width, grain_of(layer.down), b.activated_quantized,
                 {0, kernels::row_passes(rows)}, columns);
}

}  // namespace

std::int64_t feed_forward_scratch_bytes(std::int64_t columns, std::int64_t rows, int threads) {
  return part_of_work(steps_of(columns), threads) * kStep * 3 * rows *
         static_cast<std::int64_t>(sizeof(float));
}

void feed_forward_block(const Pass& pass, const LayerWeights& layer) {
  const Buffers& b = pass.buffers;
  const std::int64_t hidden = pass.architecture.shape.hidden;
  const std::int64_t width = pass.architecture.shape.feed_forward;
  norm(pass, b.delta, layer.feed_forward_norm);
  const Product gate_up[] = {{layer.gate, nullptr, nullptr, 0}, {layer.up, nullptr, nullptr, 0}};
  quantize(pass.device, gate_up, b.normed, pass.rows(), b.quantized);
  for_parts(pass.device, steps_of(width), [&](kernels::Range part, int worker) {
    const kernels::Range columns{part.begin * kStep, std::min(part.end * kStep, width)};
    activate(pass, layer, columns,
             reinterpret_cast<float*>(b.scratch + worker * pass.scratch_bytes));
  });
  const Product down[] = {{layer.down, nullptr, b.delta, hidden}};
  multiply_quantized(pass.device, down, {b.activated, b.activated_quantized}, pass.rows());
  pass.ranks.all_reduce({b.delta, static_cast<std::size_t>(pass.rows() * hidden)});
}

}  // namespace redline::model
