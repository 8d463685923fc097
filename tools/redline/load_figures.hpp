// SPDX-License-Identifier: Apache-2.0
// What a load of sequences came to, over the iterations in which all of them decode: from the end
// of the one that gave the last its first token to the end of the one in which the first is done.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "engine/request.hpp"
#include "trace/sink.hpp"

namespace redline::tool {

// Of an iteration's time; rest: what no other part counts.
constexpr std::array<const char*, 8> kParts{"draft", "target", "sampling",   "rule",
                                            "kv",    "trace",  "scheduling", "rest"};

struct LoadFigures {
  double tokens_per_s = 0;                        // of all sequences together
  double median_ms = 0, p95_ms = 0;               // per token of one sequence, counted per token
  double tokens_per_step = 0;                     // of one sequence
  double step_ms = 0;                             // mean time of an iteration
  std::array<double, kParts.size()> shares = {};  // of kParts; their sum is 1
};

// InputError: there is no such iteration, for the first to end had ended before the last began.
LoadFigures figures_of(std::span<const engine::Result> results,
                       std::span<const trace::BatchRecord> batches);

class BatchLog final : public trace::Sink {  // keeps the iterations' records, in memory
 public:
  BatchLog(trace::Level level, std::int32_t topk) : level_(level), topk_(topk) {}
  const std::vector<trace::BatchRecord>& batches() const { return batches_; }

  trace::Level level() const override { return level_; }
  std::int32_t topk() const override { return topk_; }
  void step(trace::StepRecord) override {}
  void batch(trace::BatchRecord record) override { batches_.push_back(record); }
  void request(trace::RequestRecord) override {}
  void event(trace::EventRecord) override {}

 private:
  trace::Level level_;
  std::int32_t topk_;
  std::vector<trace::BatchRecord> batches_;
};

}  // namespace redline::tool
