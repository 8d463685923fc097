// SPDX-License-Identifier: Apache-2.0
#include "model/pass.hpp"

namespace redline::model {
namespace {

const float* or_null(const std::vector<float>& values) {
  return values.empty() ? nullptr : values.data();
}

// Every row's K and V are in their slots before any row looks.
void append(const Pass& pass, std::int64_t stride) {
  const Architecture& of = pass.architecture;
  const Buffers& b = pass.buffers;
  const kernels::Rope rope{of.rope_pairs, of.shape.head_size, b.cosine, b.sine};
  float* const k = b.qkv + of.q_width();
  const float* const v = k + of.kv_width();
  // As many rows a task as a page has: neighbours write into the same lines of K.
  const std::int64_t step = kernels::kPageTokens, rows = pass.rows();
  pass.device.pool().run((rows + step - 1) / step, [&](std::int64_t task, int) {
    pass.ops().rope_append(rope, pass.plan.positions(), pass.plan.slots(), pass.plan.kv_of_rows(),
                           b.qkv, of.shape.heads, stride, k, v, stride,
                           {task * step, std::min((task + 1) * step, rows)});
  });
}

// A task: one kv head of one block of rows.
void attend(const Pass& pass, std::int64_t stride) {
  const Architecture& of = pass.architecture;
  const Buffers& b = pass.buffers;
  const auto& blocks = pass.plan.blocks();
  const std::int64_t tasks = static_cast<std::int64_t>(blocks.size()) * of.shape.kv_heads;
  pass.device.pool().run(tasks, [&](std::int64_t task, int worker) {
    const RowBlock& block = blocks[task / of.shape.kv_heads];
    pass.ops().attention(pass.plan.kv(block.segment), pass.plan.sees(), b.qkv, of.shape.heads,
                         stride, b.mixed, of.q_width(), task % of.shape.kv_heads,
                         b.scratch + worker * pass.scratch_bytes,
                         kernels::Range{block.row_begin, block.row_end});
  });
}

}  // namespace

void attention_block(const Pass& pass, const LayerWeights& layer, const float* delta) {
  const Architecture& of = pass.architecture;
  const Buffers& b = pass.buffers;
  const std::int64_t stride = of.q_width() + 2 * of.kv_width();
  norm(pass, delta, layer.attention_norm);
  float* const k = b.qkv + of.q_width();
  const Product qkv[] = {{layer.q, or_null(layer.q_bias), b.qkv, stride},
                         {layer.k, or_null(layer.k_bias), k, stride},
                         {layer.v, or_null(layer.v_bias), k + of.kv_width(), stride}};
  multiply(pass.device, qkv, b.normed, pass.rows(), b.quantized);
  append(pass, stride);
  attend(pass, stride);
  const Product out[] = {{layer.o, or_null(layer.o_bias), b.delta, of.shape.hidden}};
  multiply(pass.device, out, b.mixed, pass.rows(), b.quantized);
  pass.ranks.all_reduce({b.delta, static_cast<std::size_t>(pass.rows() * of.shape.hidden)});
}

}  // namespace redline::model
