// SPDX-License-Identifier: Apache-2.0
#include "engine/active.hpp"

#include <algorithm>

#include "engine/clock.hpp"

namespace redline::engine {
namespace {

void check(const Request& request, std::int32_t vocab, std::int32_t max_model_len) {
  const auto size = static_cast<std::int32_t>(request.prompt.size());
  if (size == 0) throw InputError("request: the prompt holds no token; give it at least one");
  if (size >= max_model_len)
    throw InputError("request: the prompt has " + std::to_string(size) +
                     " tokens, engine.max_model_len is " + std::to_string(max_model_len) +
                     "; shorten the prompt or raise max_model_len");
  if (request.max_tokens < 1)
    throw InputError("request: max_tokens is " + std::to_string(request.max_tokens) +
                     ", must be at least 1");
  if (request.min_tokens < 0 || request.min_tokens > request.max_tokens)
    throw InputError("request: min_tokens is " + std::to_string(request.min_tokens) +
                     ", must be between 0 and max_tokens, " + std::to_string(request.max_tokens));
  if (request.logprobs < 0 || request.logprobs > vocab)
    throw InputError("request: logprobs is " + std::to_string(request.logprobs) +
                     ", must be between 0 and the vocabulary of " + std::to_string(vocab));
  for (Token token : request.prompt)
    if (token < 0 || token >= vocab)
      throw InputError("request: token " + std::to_string(token) +
                       " is not below the vocabulary of " + std::to_string(vocab));
}

}  // namespace

Active::Active(Request request, Listener listener, std::shared_ptr<const Plan> plan,
               const text::Tokenizer& tokenizer, std::int32_t max_model_len)
    : request_(std::move(request)),
      listener_(std::move(listener)),
      plan_(std::move(plan)),
      stops_(request_, tokenizer, max_model_len),
      arrival_ns_(now_ns()) {
  check(request_, tokenizer.vocab(), max_model_len);
  sequence_.request_key = request_.key;
  sequence_.seed = request_.seed;
  sequence_.strategy = &plan_->strategy;
  sequence_.tokens = request_.prompt;
  sequence_.prompt_tokens = static_cast<std::int32_t>(request_.prompt.size());
  sequence_.tokens_left = std::min(request_.max_tokens, max_model_len - sequence_.prompt_tokens);
  sequence_.top_logprobs = request_.logprobs;
  reserve();
  sequence_.stop_tokens = stop_tokens(request_, tokenizer);
  result_.n_prompt = sequence_.prompt_tokens;
}

// Room for all that it may emit, so that no step has to make some. A step may commit a draft beyond
// the last token that is emitted.
void Active::reserve() {
  const auto most = static_cast<std::size_t>(sequence_.tokens_left);
  sequence_.tokens.reserve(sequence_.tokens.size() + most + 1);
  result_.tokens.reserve(most);
  result_.logprobs.reserve(most);
  result_.margins.reserve(most);
  result_.times.reserve(most);
  result_.drafted_per_step.reserve(most);
  result_.accepted_per_step.reserve(most);
  if (request_.logprobs > 0) result_.alternatives.reserve(most);
}

void Active::admitted(std::int32_t cached_tokens) {
  if (result_.start_ns > 0) return;
  result_.start_ns = now_ns();
  result_.cached_tokens = cached_tokens;
}

void Active::take(step::Progress& progress, const step::Timings& timings,
                  std::int64_t num_sharing) {
  if (!progress.is_chunk) walk(progress);
  if (progress.fault != step::Fault::NONE) end(trace::FinishReason::ERROR, progress.error);
  const bool decodes = !progress.is_chunk && progress.record.kind != trace::StepKind::PREFILL;
  if (decodes || progress.is_feed) result_.draft_ns += timings.draft / num_sharing;
  if (!decodes) return;  // shares of time are those of decoding
  result_.target_ns += timings.target / num_sharing;
  result_.verify_ns += timings.verify / num_sharing;
  result_.sample_ns += timings.sample / num_sharing;
  result_.kv_ns += timings.kv / num_sharing;
}

// Committed tokens one by one; the first stop wins, the rest was never emitted.
void Active::walk(step::Progress& progress) {
  const std::size_t before = result_.tokens.size();
  std::uint16_t emitted = 0;
  for (std::size_t k = 0; k < progress.committed.size() && !ended_; ++k, ++emitted) {
    result_.tokens.push_back(progress.committed[k]);
    result_.logprobs.push_back(progress.logprobs[k]);
    result_.margins.push_back(progress.margins[k]);
    if (request_.logprobs > 0) result_.alternatives.push_back(std::move(progress.top[k]));
    if (const auto reason = stops_.push(progress.committed[k])) end(*reason);
  }
  progress.record.emitted = emitted;
  if (progress.committed.empty()) return;
  result_.times.push_back({now_ns(), emitted});
  Counts& counts = result_.counts;
  counts.emitted += emitted;
  counts.committed += progress.committed.size();
  if (listener_.on_tokens) listener_.on_tokens(std::span(result_.tokens).subspan(before));
  if (progress.record.kind == trace::StepKind::PREFILL) return;
  counts.steps += 1;
  counts.drafted += progress.drafted;
  counts.accepted_by_rule += progress.accepted_by_rule;
  if (progress.drafted == 0) return;
  counts.drafting_steps += 1;
  result_.drafted_per_step.push_back(progress.drafted);
  result_.accepted_per_step.push_back(progress.accepted_by_rule);
}

void Active::end(trace::FinishReason reason, std::string error) {
  ended_ = true;
  result_.finish = reason;
  result_.error = std::move(error);
}

void Active::report(trace::Sink& sink) {
  result_.end_ns = now_ns();
  if (result_.start_ns == 0) result_.start_ns = result_.end_ns;  // it was never admitted
  result_.text = stops_.text();
  trace::RequestRecord r;
  r.request_key = request_.key;
  r.question_id = request_.question_id;
  r.category = request_.category;
  r.turn = request_.turn;
  r.repeat = request_.repeat;
  r.seed = request_.seed;
  r.is_warmup = request_.is_warmup;
  r.n_prompt = static_cast<std::uint32_t>(sequence_.prompt_tokens);
  r.n_cached = static_cast<std::uint32_t>(result_.cached_tokens);
  r.n_output = static_cast<std::uint32_t>(result_.tokens.size());
  r.n_steps = static_cast<std::uint32_t>(result_.counts.steps);
  r.finish_reason = result_.finish;
  r.t_arrival_ns = arrival_ns_;
  r.t_start_ns = result_.start_ns;
  r.t_first_ns = result_.times.empty() ? result_.end_ns : result_.times.front().end_ns;
  r.t_end_ns = result_.end_ns;
  r.error = result_.error.empty() ? 0 : 1;
  r.prompt_tokens = request_.prompt;
  r.output_tokens = result_.tokens;
  sink.request(std::move(r));
  if (listener_.on_end) listener_.on_end(std::move(result_));
}

}  // namespace redline::engine
