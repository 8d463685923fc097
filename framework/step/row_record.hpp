// SPDX-License-Identifier: Apache-2.0
// What the trace keeps of one row of raw logits: its log-sum-exp and entropy, the logits that
// mattered, and by level the best few or all of them.
#pragma once
#include <span>
#include <vector>

#include "device/worker_pool.hpp"
#include "redline/kernels/ops.hpp"
#include "trace/records.hpp"

namespace redline::step {

// How many tokens are better; ties go to the lower id.
std::uint32_t rank_of(std::span<const float> logits, Token token);

struct TracedRow {
  Node node;
  std::span<const float> logits;  // [V]
  Token drafted, emitted;         // what followed, or kNone
};

struct Recorded {  // how much of it all
  trace::Level level;
  std::int32_t topk;
  bool optimal = false;  // also the most that any lossless rule keeps, node by node: it is dear
};

class RowRecorder {
 public:
  // pool: shares out the rows of a step; null: the caller's thread does them all.
  RowRecorder(const Recorded& wanted, const kernels::Ops& ops, device::WorkerPool* pool)
      : wanted_(wanted), ops_(ops), pool_(pool) {}
  trace::Level level() const { return wanted_.level; }
  bool wants_optimal() const { return wanted_.optimal; }
  trace::LogitsRecord record(const TracedRow& row) const;
  // logits[token] less the greatest other logit: how far from a tie the choice was.
  float margin(std::span<const float> logits, Token token) const;
  template <class F>  // F(std::size_t index), in any order and on any thread
  void each(std::size_t count, F&& f) const {
    auto task = [&](std::int64_t index, int) { f(static_cast<std::size_t>(index)); };
    if (pool_ && count > 1) return pool_->run(static_cast<std::int64_t>(count), task);
    for (std::size_t k = 0; k < count; ++k) f(k);
  }

 private:
  Recorded wanted_;
  const kernels::Ops& ops_;
  device::WorkerPool* pool_;
};

}  // namespace redline::step
