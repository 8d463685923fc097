// SPDX-License-Identifier: Apache-2.0
// What the trace keeps of one row of raw logits: its log-sum-exp and entropy, the logits that
// mattered, and by level the best few or all of them.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "redline/kernels/ops.hpp"
#include "trace/records.hpp"

namespace redline::step {

using RowAt = std::function<std::span<const float>(Node)>;  // raw logits after a node, or empty

// How many tokens are better; ties go to the lower id.
std::uint32_t rank_of(std::span<const float> logits, Token token);
// logits[token] less the greatest other logit: how far from a tie the choice was.
float margin(std::span<const float> logits, Token token);

class RowRecorder {
 public:
  RowRecorder(trace::Level level, std::int32_t topk, const kernels::Ops& ops)
      : level_(level), topk_(topk), ops_(ops) {}
  trace::Level level() const { return level_; }
  // drafted, emitted: the token that followed, or kNone.
  trace::LogitsRecord record(Node node, std::span<const float> logits, Token drafted,
                             Token emitted);

 private:
  trace::Level level_;
  std::int32_t topk_;
  const kernels::Ops& ops_;
  std::vector<float> p_;  // [V] work space
};

}  // namespace redline::step
