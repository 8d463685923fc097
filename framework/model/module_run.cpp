// SPDX-License-Identifier: Apache-2.0
#include "model/module_run.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/pass.hpp"

namespace redline::model {
namespace {

const float* or_null(const std::vector<float>& values) {
  return values.empty() ? nullptr : values.data();
}

struct Sizes {  // of the buffers: bytes, then floats
  std::int64_t quantized, scratch_each, qkv, wanted, mapped, logits, silu, table;
};

Sizes sizes_of(const ModulePlan& plan, const ModuleRun::Limits& limits, const kernels::Ops& ops) {
  std::int64_t matrix_input = 0, head_input = 0, silu_width = 0;
  for (const ModuleNode& node : plan.nodes) {
    const std::int64_t width = node.inputs.empty() ? 0 : plan.widths[node.inputs[0]];
    if (node.op == Op::LINEAR || node.op == Op::HEAD) matrix_input = std::max(matrix_input, width);
    if (node.op == Op::HEAD) head_input = std::max(head_input, width);
    if (node.op == Op::SILU) silu_width = std::max(silu_width, width);
  }
  const bool attends = plan.layers > 0;
  return {.quantized = kernels::activation_bytes(limits.rows, matrix_input),
          .scratch_each =
              attends ? ops.attention_scratch_bytes(plan.heads, plan.kv_heads, plan.head_size) : 0,
          .qkv = limits.rows * (plan.heads + 2 * plan.kv_heads) * plan.head_size,
          .wanted = limits.wanted * head_input,
          .mapped = limits.wanted * plan.mapped,
          .logits = limits.wanted * plan.feeding.heads * plan.vocab,
          .silu = silu_width,
          .table = limits.positions * plan.head_size / 2};
}

}  // namespace

ModuleRun::ModuleRun(const ModulePlan& plan, const ModuleWeights& weights,
                     std::vector<std::int32_t> taps, Decoder& target, device::Device& device,
                     const Limits& limits)
    : plan_(plan),
      weights_(weights),
      taps_(std::move(taps)),
      target_(target),
      device_(device),
      limits_(limits),
      values_(plan, limits.rows) {
  const Sizes sizes = sizes_of(plan, limits, device.ops());
  const auto floats = [](std::int64_t count) {
    return std::make_unique_for_overwrite<float[]>(count);
  };
  scratch_bytes_ = sizes.scratch_each;
  quantized_ = std::make_unique_for_overwrite<std::byte[]>(sizes.quantized);
  scratch_ = std::make_unique_for_overwrite<std::byte[]>(scratch_bytes_ * device.pool().threads());
  qkv_ = floats(sizes.qkv);
  wanted_ = floats(sizes.wanted);
  mapped_ = floats(sizes.mapped);
  logits_ = floats(sizes.logits);
  ones_.assign(sizes.silu, 1.0f);
  cosine_.resize(sizes.table);
  sine_.resize(sizes.table);
  if (plan.layers > 0)
    kernels::fill_rope_table(plan.rope_base, nullptr, 1.0, plan.head_size, limits.positions,
                             cosine_.data(), sine_.data());
}

std::int64_t ModuleRun::bytes(const ModulePlan& plan, const Limits& limits, const kernels::Ops& ops,
                              int workers) {
  const Sizes sizes = sizes_of(plan, limits, ops);
  return ModuleValues::bytes(plan, limits.rows) + sizes.quantized + sizes.scratch_each * workers +
         4 * (sizes.qkv + sizes.wanted + sizes.mapped + sizes.logits + sizes.silu +
              2 * sizes.table);
}

void ModuleRun::run(RowPlan& rows, const ModuleRows& sources) {
  rows_ = &rows;
  sources_ = &sources;
  for (std::size_t op = 0; op < plan_.nodes.size(); ++op) run_op(op);
}

std::span<const float> ModuleRun::logits(std::int64_t k, std::int32_t head) const {
  return {logits_.get() + (head * limits_.wanted + k) * plan_.vocab,
          static_cast<std::size_t>(plan_.vocab)};
}

void ModuleRun::run_op(std::size_t op) {
  switch (plan_.nodes[op].op) {
    case Op::EMBED:
      return target_.embed({rows_->tokens(), static_cast<std::size_t>(rows_->rows())},
                           values_.of(op));
    case Op::HIDDEN:
      return copy(op, &ModuleRows::tapped, taps_[plan_.nodes[op].tap] * plan_.widths[op]);
    case Op::RECYCLED:
      return copy(op, &ModuleRows::parent, 0);
    case Op::CHOOSE:
      return choose(op);
    case Op::LINEAR:
      return linear(op);
    case Op::NORM:
      return norm(op);
    case Op::SILU:
      return silu(op);
    case Op::ADD:
    case Op::MULTIPLY:
      return combine(op);
    case Op::CONCAT:
      return concat(op);
    case Op::ATTENTION:
      return attention(op);
    case Op::FEATURE:
      return feature(op);
    case Op::HEAD:
      return head(op);
    case Op::BLOCK:
      return;  // says how rows are fed
  }
}

template <class F>
void ModuleRun::for_each_row(std::int64_t width, F&& f) {
  for_rows(device_, rows_->rows(), width, [&](kernels::Range range, int) {
    for (std::int64_t row = range.begin; row < range.end; ++row) f(row);
  });
}

// From pages; zeros where there is nothing.
void ModuleRun::copy(std::size_t op, const float* (ModuleRows::*source)(std::int64_t) const,
                     std::int64_t offset) {
  const std::int64_t width = plan_.widths[op];
  for_each_row(width, [&](std::int64_t row) {
    float* const to = values_.of(op) + row * width;
    if (const float* const from = (sources_->*source)(row))
      std::copy_n(from + offset, width, to);
    else
      std::fill_n(to, width, 0.0f);
  });
}

void ModuleRun::choose(std::size_t op) {
  const std::int64_t width = plan_.widths[op];
  for_each_row(width, [&](std::int64_t row) {
    std::copy_n(in(op, sources_->is_drafted(row) ? 1 : 0) + row * width, width,
                values_.of(op) + row * width);
  });
}

void ModuleRun::linear(std::size_t op) {
  const OpWeights& weights = weights_.of(op);
  const Product product[] = {
      {weights.matrix, or_null(weights.vector), values_.of(op), plan_.widths[op]}};
  multiply(device_, product, in(op, 0), rows_->rows(), quantized_.get());
}

void ModuleRun::norm(std::size_t op) {
  const std::int64_t width = plan_.widths[op];
  for_rows(device_, rows_->rows(), width, [&](kernels::Range range, int) {
    device_.ops().add_rms_norm(in(op, 0), nullptr, weights_.of(op).vector.data(), plan_.epsilon,
                               width, values_.of(op), range);
  });
}

// The gated one of the kernels, with a gate of ones: x silu(x) is then silu(x) exactly.
void ModuleRun::silu(std::size_t op) {
  const std::int64_t width = plan_.widths[op];
  for_each_row(width, [&](std::int64_t row) {
    device_.ops().swiglu(in(op, 0) + row * width, ones_.data(), width, width,
                         values_.of(op) + row * width, {0, 1});
  });
}

void ModuleRun::combine(std::size_t op) {
  const std::int64_t width = plan_.widths[op];
  const bool is_sum = plan_.nodes[op].op == Op::ADD;
  for_each_row(width, [&](std::int64_t row) {
    const float* const a = in(op, 0) + row * width;
    const float* const b = in(op, 1) + row * width;
    float* const out = values_.of(op) + row * width;
    if (is_sum)
      for (std::int64_t i = 0; i < width; ++i) out[i] = a[i] + b[i];
    else
      for (std::int64_t i = 0; i < width; ++i) out[i] = a[i] * b[i];
  });
}

void ModuleRun::concat(std::size_t op) {
  const std::int64_t width = plan_.widths[op];
  const auto parts = static_cast<int>(plan_.nodes[op].inputs.size());
  for_each_row(width, [&](std::int64_t row) {
    float* to = values_.of(op) + row * width;
    for (int k = 0; k < parts; ++k)
      to = std::copy_n(in(op, k) + row * in_width(op, k), in_width(op, k), to);
  });
}

void ModuleRun::feature(std::size_t op) {
  const std::int64_t width = in_width(op, 0);
  for_each_row(width, [&](std::int64_t row) {
    std::copy_n(in(op, 0) + row * width, width, rows_->features(row));
  });
}

void ModuleRun::head(std::size_t op) {
  const auto& wanted = rows_->wanted();
  const auto count = static_cast<std::int64_t>(wanted.size());
  const bool is_own = !plan_.nodes[op].weight.empty();
  if (count == 0 || (is_own && !target_.is_lead())) return;  // nobody asks the others for rows
  const std::int64_t width = in_width(op, 0);
  for (std::int64_t k = 0; k < count; ++k)
    std::copy_n(in(op, 0) + wanted[k] * width, width, wanted_.get() + k * width);
  float* const out = logits_.get() + plan_.ordinals[op] * limits_.wanted * plan_.vocab;
  if (!is_own) return target_.head(wanted_.get(), count, out);
  own_head(weights_.of(op), count, out);
}

void ModuleRun::own_head(const OpWeights& weights, std::int64_t count, float* out) {
  const std::int64_t rows = weights.matrix.rows, vocab = plan_.vocab;
  const bool is_mapped = !weights.ids.empty();
  const Product product[] = {
      {weights.matrix, or_null(weights.vector), is_mapped ? mapped_.get() : out, rows}};
  multiply(device_, product, wanted_.get(), count, quantized_.get());
  if (!is_mapped) return;
  for_rows(device_, count, vocab, [&](kernels::Range range, int) {
    for (std::int64_t k = range.begin; k < range.end; ++k) {
      std::fill_n(out + k * vocab, vocab, -std::numeric_limits<float>::infinity());
      for (std::int64_t i = 0; i < rows; ++i)
        out[k * vocab + weights.ids[i]] = mapped_[k * rows + i];
    }
  });
}

}  // namespace redline::model
