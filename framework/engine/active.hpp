// SPDX-License-Identifier: Apache-2.0
// One request in the engine, from its arrival to its last token: its sequence, its way to a stop,
// and what each iteration leaves in its result.
#pragma once
#include <functional>
#include <memory>
#include <span>

#include "engine/stops.hpp"
#include "engine/strategies.hpp"
#include "step/sequence.hpp"
#include "trace/sink.hpp"

namespace redline::engine {

struct Listener {  // all may be empty; called on the engine's thread
  std::function<void(std::span<const Token>)> on_tokens;  // each emitted token, once committed
  std::function<bool()> cancelled;  // asked before each iteration; true ends the request
  std::function<void(Result)> on_end;
};

class Active {
 public:
  // InputError: a prompt that is empty or leaves no room, a token outside V.
  Active(Request request, Listener listener, std::shared_ptr<const Plan> plan,
         const text::Tokenizer& tokenizer, std::int32_t max_model_len);
  Active(const Active&) = delete;  // its sequence and stops refer to it

  const Request& request() const { return request_; }
  step::Sequence& sequence() { return sequence_; }
  std::int64_t num_tokens() const { return std::ssize(sequence_.tokens); }
  std::int64_t num_emitted() const { return std::ssize(result_.tokens); }
  bool ended() const { return ended_; }
  bool is_cancelled() const { return listener_.cancelled && listener_.cancelled(); }

  void admitted(std::int32_t cached_tokens);  // may happen again after a preemption
  void preempted() { ++result_.preemptions; }
  // Walks the committed tokens; fills what is the engine's of the record. share: of an iteration's
  // time, by so many sequences.
  void take(step::Progress& progress, const step::Timings& timings, std::int64_t num_sharing);
  void end(trace::FinishReason reason, std::string error = {});
  void report(trace::Sink& sink);  // after the end: the record, then the listener's on_end

  // The scheduler's notes.
  std::uint64_t arrival = 0;      // counts requests
  std::uint64_t last_served = 0;  // iteration

 private:
  void reserve();
  void walk(step::Progress& progress);

  Request request_;
  Listener listener_;
  std::shared_ptr<const Plan> plan_;
  Stops stops_;
  step::Sequence sequence_;
  Result result_;
  std::int64_t arrival_ns_;
  bool ended_ = false;
};

}  // namespace redline::engine
