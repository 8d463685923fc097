// SPDX-License-Identifier: Apache-2.0
// One request from its prompt to its last token: prefill, then steps until a stop, with what each
// leaves in the result and in the trace.
#pragma once
#include <functional>
#include <span>

#include "engine/stops.hpp"
#include "step/step.hpp"

namespace redline::engine {

class Run {
 public:
  // batches: the engine's count of iterations, moved on. InputError: a prompt that is empty or
  // leaves no room, a token outside V.
  Run(const Request& request, const text::Tokenizer& tokenizer, step::Step& step,
      kv::PagePool& pages, std::int32_t max_model_len, std::uint64_t& batches, trace::Sink& sink);
  ~Run();  // the sequence's pages and states go
  Run(const Run&) = delete;

  Result finish(const std::function<void(std::span<const Token>)>& on_tokens,
                const std::function<bool()>& cancelled);

 private:
  void prefill();
  void advance(const std::function<void(std::span<const Token>)>& on_tokens);
  void take(step::Progress& progress);
  void end(trace::FinishReason reason, std::string error = {});
  void record(step::Progress progress, const step::Timings& timings, std::int64_t start_ns);

  const Request& request_;
  step::Step& step_;
  trace::Sink& sink_;
  std::uint64_t& batches_;
  Stops stops_;
  step::Philox oracle_;
  step::Sequence sequence_;
  step::Timings prefill_;
  Result result_;
  std::int64_t log_ns_ = 0;  // spent on the previous iteration's records
  bool ended_ = false;
};

}  // namespace redline::engine
