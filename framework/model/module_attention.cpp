// SPDX-License-Identifier: Apache-2.0
// Attention of a module: rotary, over the module's own pages.
#include <algorithm>

#include "model/module_run.hpp"
#include "model/pass.hpp"

namespace redline::model {

// Q and K are rotated in place, and other ops may take them too: a copy is.
void ModuleRun::attention(std::size_t op) {
  const std::int64_t q = in_width(op, 0), kv = in_width(op, 1), stride = q + 2 * kv;
  const kernels::Rope rope{kernels::RopePairs::NEOX, plan_.head_size, cosine_.data(), sine_.data()};
  rows_->enter_layer(plan_.ordinals[op]);
  for_rows(device_, rows_->rows(), stride, [&](kernels::Range range, int) {
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      float* to = qkv_.get() + row * stride;
      for (int k = 0; k < 3; ++k)
        to = std::copy_n(in(op, k) + row * in_width(op, k), in_width(op, k), to);
    }
    device_.ops().rope_append(rope, rows_->positions(), rows_->slots(), rows_->kv_of_rows(),
                              qkv_.get(), plan_.heads, stride, qkv_.get() + q, qkv_.get() + q + kv,
                              stride, range);
  });
  attend(op);
}

// A task: one kv head of one block of rows. Every row's K and V are in their slots by now.
void ModuleRun::attend(std::size_t op) {
  const std::int64_t q = in_width(op, 0), stride = q + 2 * in_width(op, 1);
  const auto& blocks = rows_->blocks();
  device_.pool().run(std::ssize(blocks) * plan_.kv_heads, [&](std::int64_t task, int worker) {
    const RowBlock& block = blocks[task / plan_.kv_heads];
    device_.ops().attention(rows_->kv(block.segment), rows_->sees(), qkv_.get(), plan_.heads,
                            stride, values_.of(op), q, task % plan_.kv_heads,
                            scratch_.get() + worker * scratch_bytes_,
                            {block.row_begin, block.row_end});
  });
}

}  // namespace redline::model
