// SPDX-License-Identifier: Apache-2.0
#include "model/pass.hpp"

namespace redline::model {

void feed_forward_block(const Pass& pass, const LayerWeights& layer) {
  const Buffers& b = pass.buffers;
  const std::int64_t width = pass.architecture.shape.feed_forward;
  const std::int64_t hidden = pass.architecture.shape.hidden;
  norm(pass, b.delta, layer.feed_forward_norm);
  const Product gate_up[] = {{layer.gate, nullptr, b.gate_up, 2 * width},
                             {layer.up, nullptr, b.gate_up + width, 2 * width}};
  multiply(pass.device, gate_up, b.normed, pass.rows(), b.quantized);
  for_rows(pass.device, pass.rows(), width, [&](kernels::Range range, int) {
    pass.ops().swiglu(b.gate_up, b.gate_up + width, width, 2 * width, b.activated, range);
  });
  const Product down[] = {{layer.down, nullptr, b.delta, hidden}};
  multiply(pass.device, down, b.activated, pass.rows(), b.quantized);
  pass.ranks.all_reduce({b.delta, static_cast<std::size_t>(pass.rows() * hidden)});
}

}  // namespace redline::model
