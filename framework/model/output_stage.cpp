// SPDX-License-Identifier: Apache-2.0
#include "model/output_stage.hpp"

#include <cstring>
#include <string>

#include "redline/error.hpp"

namespace redline::model {
namespace {

// The layer before which a tap's values stand in the residual stream.
std::int32_t layer_of(const Tap& tap, std::int32_t layers) {
  if (tap.point == Tap::Point::FINAL_NORM) return layers + 1;
  const std::int32_t layer = tap.layer < 0 ? tap.layer + layers : tap.layer;
  if (layer < 0 || layer >= layers)
    throw Error("forward: a tap at layer " + std::to_string(tap.layer) + ", the model has " +
                std::to_string(layers));
  return tap.point == Tap::Point::LAYER_INPUT ? layer : layer + 1;
}

Summary summarize(const kernels::Ops& ops, std::span<const float> logits, bool full) {
  const auto vocab = static_cast<std::int64_t>(logits.size());
  const kernels::Spread spread = full ? ops.spread(logits.data(), vocab) : kernels::Spread{};
  return {spread.log_sum_exp, spread.entropy, static_cast<Token>(ops.argmax(logits.data(), vocab))};
}

}  // namespace

OutputStage::OutputStage(const Shape& shape, std::span<const Token> tokens, std::int32_t rows,
                         std::span<const Tap> stored)
    : layers_(shape.layers), hidden_(shape.hidden) {
  for (const Tap& tap : stored) stored_.push_back({layer_of(tap, layers_), stored_.size()});
  output_.vocab = shape.vocab;
  output_.tokens = tokens;
  output_.logits.reserve(rows);
  output_.summaries.reserve(rows);
}

void OutputStage::begin(const Batch& batch) {
  open_.clear();
  const std::size_t each = batch.rows.size() * hidden_;
  if (tapped_.size() < batch.taps.size() * each) tapped_.resize(batch.taps.size() * each);
  output_.taps.clear();
  for (std::size_t i = 0; i < batch.taps.size(); ++i) {
    open_.push_back({layer_of(batch.taps[i], layers_), i});
    output_.taps.emplace_back(tapped_.data() + i * each, each);
  }
  output_.logits.assign(batch.rows.size(), {});
  output_.summaries.assign(batch.rows.size(), {});
}

void OutputStage::take(const Pass& pass, std::int32_t layer, const float* values) {
  const std::size_t each = pass.rows() * hidden_;
  for (const OpenTap& tap : open_)
    if (tap.layer == layer)
      std::memcpy(tapped_.data() + tap.index * each, values, each * sizeof(float));
  for (const OpenTap& tap : stored_)
    if (tap.layer == layer) store(pass, tap.index, values);
}

void OutputStage::store(const Pass& pass, std::size_t tap, const float* values) const {
  for_rows(pass.device, pass.rows(), hidden_, [&](kernels::Range range, int) {
    for (std::int64_t row = range.begin; row < range.end; ++row)
      std::memcpy(pass.plan.features(row) + tap * hidden_, values + row * hidden_,
                  hidden_ * sizeof(float));
  });
}

void OutputStage::take_layer_input(const Pass& pass, std::int32_t layer) {
  take(pass, layer, pass.buffers.x);
}
void OutputStage::take_final_norm(const Pass& pass) {
  take(pass, layers_ + 1, pass.buffers.normed);
}

void OutputStage::finish(const Pass& pass, const Batch& batch, const Weights& weights) {
  const Buffers& b = pass.buffers;
  const auto& wanted = pass.plan.wanted();
  const auto count = static_cast<std::int64_t>(wanted.size());
  if (count == 0) return;
  for (std::int64_t i = 0; i < count; ++i)
    std::memcpy(b.wanted + i * hidden_, b.normed + wanted[i] * hidden_, hidden_ * sizeof(float));
  logits(pass, weights.head(), b.wanted, count, b.logits);
  if (pass.ranks.rank() != 0) return;  // rank 0 has the rows
  const std::int64_t outputs = weights.head().outputs;
  for_rows(pass.device, count, outputs, [&](kernels::Range range, int) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::span<const float> row(b.logits + i * outputs, outputs);
      const Want want = batch.rows[wanted[i]].want;
      if (want == Want::ROW) {
        output_.logits[wanted[i]] = row;
        continue;
      }
      Summary& summary = output_.summaries[wanted[i]];
      summary = summarize(pass.ops(), row, want == Want::SUMMARY);
      if (!output_.tokens.empty()) summary.argmax = output_.tokens[summary.argmax];
    }
  });
}

}  // namespace redline::model
