// SPDX-License-Identifier: Apache-2.0
#include "engine/run.hpp"

#include <chrono>

#include "trace/events.hpp"

namespace redline::engine {
namespace {

std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

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
  for (Token token : request.prompt)
    if (token < 0 || token >= vocab)
      throw InputError("request: token " + std::to_string(token) +
                       " is not below the vocabulary of " + std::to_string(vocab));
}

}  // namespace

Run::Run(const Request& request, const text::Tokenizer& tokenizer, step::Step& step,
         kv::PagePool& pages, std::int32_t max_model_len, std::uint64_t& batches, trace::Sink& sink)
    : request_(request),
      step_(step),
      sink_(sink),
      batches_(batches),
      stops_(request, tokenizer, max_model_len) {
  check(request, tokenizer.vocab(), max_model_len);
  sequence_.request_key = request.key;
  sequence_.seed = request.seed;
  sequence_.tokens = request.prompt;
  sequence_.prompt_tokens = static_cast<std::int32_t>(request.prompt.size());
  sequence_.tokens_left = std::min(request.max_tokens, max_model_len - sequence_.prompt_tokens);
  sequence_.stop_tokens = stop_tokens(request, tokenizer);
  sequence_.target_kv.emplace(pages);
  result_.n_prompt = sequence_.prompt_tokens;
}
Run::~Run() { step_.forget(sequence_); }

Result Run::finish(const std::function<void(std::span<const Token>)>& on_tokens,
                   const std::function<bool()>& cancelled) {
  result_.start_ns = now_ns();
  prefill();
  while (!ended_) {
    if (cancelled && cancelled())
      end(trace::FinishReason::CANCELLED);
    else
      advance(on_tokens);
  }
  result_.end_ns = now_ns();
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
  r.n_output = static_cast<std::uint32_t>(result_.tokens.size());
  r.n_steps = static_cast<std::uint32_t>(result_.counts.steps);
  r.finish_reason = result_.finish;
  r.t_arrival_ns = r.t_start_ns = result_.start_ns;
  r.t_first_ns = result_.times.empty() ? result_.end_ns : result_.times.front().end_ns;
  r.t_end_ns = result_.end_ns;
  r.error = result_.error.empty() ? 0 : 1;
  r.prompt_tokens = request_.prompt;
  r.output_tokens = result_.tokens;
  sink_.request(std::move(r));
  return std::move(result_);
}

void Run::prefill() {
  if (!step_.prefill(sequence_, prefill_))
    end(trace::FinishReason::ERROR,
        "the KV pages ran out during prefill; raise engine.max_model_len");
}

// One iteration and what follows from it.
void Run::advance(const std::function<void(std::span<const Token>)>& on_tokens) {
  step::Sequence* const batch[] = {&sequence_};
  const std::int64_t start_ns = now_ns();
  step::Timings timings;
  auto progress = step_.run(batch, oracle_, timings);
  if (!progress)
    return end(trace::FinishReason::ERROR, "the KV pages ran out; raise engine.max_model_len");
  step::Progress& mine = progress->front();
  const std::size_t before = result_.tokens.size();
  take(mine);
  if (on_tokens) on_tokens(std::span(result_.tokens).subspan(before));
  record(std::move(mine), timings, start_ns);
}

// Committed tokens one by one; the first stop wins, the rest was never emitted.
void Run::take(step::Progress& progress) {
  if (!progress.error.empty()) return end(trace::FinishReason::ERROR, progress.error);
  std::uint16_t emitted = 0;
  for (std::size_t k = 0; k < progress.committed.size() && !ended_; ++k, ++emitted) {
    result_.tokens.push_back(progress.committed[k]);
    result_.logprobs.push_back(progress.logprobs[k]);
    result_.margins.push_back(progress.margins[k]);
    if (const auto reason = stops_.push(progress.committed[k])) end(*reason);
  }
  progress.record.emitted = emitted;
  result_.times.push_back({now_ns(), emitted});
  Counts& counts = result_.counts;
  counts.emitted += emitted;
  counts.committed += progress.committed.size();
  if (progress.record.kind == trace::StepKind::PREFILL) return;
  counts.steps += 1;
  counts.drafted += progress.drafted;
  counts.accepted_by_rule += progress.accepted_by_rule;
  if (progress.drafted == 0) return;
  counts.drafting_steps += 1;
  result_.drafted_per_step.push_back(progress.drafted);
  result_.accepted_per_step.push_back(progress.accepted_by_rule);
}

void Run::end(trace::FinishReason reason, std::string error) {
  ended_ = true;
  result_.finish = reason;
  result_.error = std::move(error);
}

void Run::record(step::Progress progress, const step::Timings& timings, std::int64_t start_ns) {
  const bool prefill = progress.record.kind == trace::StepKind::PREFILL;
  if (!prefill) {  // shares of time are those of decoding
    result_.draft_ns += timings.draft;
    result_.target_ns += timings.target;
    result_.verify_ns += timings.verify;
    result_.sample_ns += timings.sample;
    result_.kv_ns += timings.kv;
  }
  const std::int64_t log_start_ns = now_ns();
  trace::BatchRecord b;
  b.batch_id = batches_;
  b.n_seqs = 1;
  b.n_rows = timings.rows + (prefill ? prefill_.rows : 0);
  b.t_start_ns = start_ns;
  b.draft_ns = timings.draft + (prefill ? prefill_.draft : 0);
  b.target_ns = timings.target + (prefill ? prefill_.target : 0);
  b.verify_ns = timings.verify;
  b.sample_ns = timings.sample;
  b.kv_ns = timings.kv + (prefill ? prefill_.kv : 0);
  b.log_ns = log_ns_;
  b.total_ns = log_start_ns - start_ns + (prefill ? prefill_.total : 0);
  if (!progress.error.empty())
    sink_.event({log_start_ns, static_cast<std::uint16_t>(trace::Event::BAD_ROW), request_.key, 0});
  if (!progress.bad_draft.empty())
    sink_.event({log_start_ns, static_cast<std::uint16_t>(trace::Event::DRAFT_REFUSED),
                 request_.key, static_cast<double>(progress.drafted)});
  progress.record.batch_id = batches_++;
  sink_.step(std::move(progress.record));
  sink_.batch(b);
  log_ns_ = now_ns() - log_start_ns;
}

}  // namespace redline::engine
