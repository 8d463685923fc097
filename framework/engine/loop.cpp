// SPDX-License-Identifier: Apache-2.0
#include "engine/loop.hpp"

#include <algorithm>

#include "engine/clock.hpp"
#include "engine/memory_plan.hpp"
#include "log/log.hpp"
#include "step/draft_model.hpp"
#include "step/work.hpp"

namespace redline::engine {
namespace {

constexpr std::uint64_t kBatchesPerSample = 32;  // of the memory table of the trace

}  // namespace

Loop::Loop(const LoopNeeds& needs)
    : step_(needs.step),
      pages_(needs.pages),
      prefixes_(needs.prefixes),
      watchdog_(needs.watchdog),
      scheduler_(needs.max_num_seqs, needs.rows_per_step) {}

Loop::~Loop() {
  scheduler_.for_each([](Active& request) { step::Step::forget(request.sequence()); });
}

void Loop::add(std::unique_ptr<Active> request) {
  if (scheduler_.find(request->request().key))
    throw InputError("request: one of key " + std::to_string(request->request().key) +
                     " has not ended yet; give a copy another repeat");
  scheduler_.add(std::move(request));
}

bool Loop::cancel(std::uint64_t request_key) {
  Active* const request = scheduler_.find(request_key);
  if (!request || request->ended()) return false;
  request->end(trace::FinishReason::CANCELLED);
  return true;
}

bool Loop::iterate(trace::Sink& sink) {
  const std::int64_t start_ns = now_ns();
  timings_ = {}, sched_ns_ = 0;
  List<Share> shares;
  {
    const step::Lap scheduling(sched_ns_);
    scheduler_.for_each([](Active& request) {
      if (request.is_cancelled()) request.end(trace::FinishReason::CANCELLED);
    });
  }
  report_ended(sink);
  {
    const step::Lap scheduling(sched_ns_);
    admit();
    shares = scheduler_.pick(step_);
  }
  if (shares.empty()) return false;
  List<step::Progress> progress = run(shares, sink);
  for (std::size_t k = 0; k < progress.size(); ++k)
    shares[k].request->take(progress[k], timings_, std::ssize(progress));
  const std::int64_t tokens_ns = now_ns() - start_ns;
  for (std::size_t k = 0; k < progress.size(); ++k)
    keep(*shares[k].request, std::move(progress[k]), sink);
  report_ended(sink);
  report_slow(sink);
  record_batch(start_ns, tokens_ns, progress.size(), sink);
  return !scheduler_.running().empty() || !scheduler_.waiting().empty();
}

// First come, first served: the head of the queue, as long as it has room.
void Loop::admit() {
  while (Active* const request = scheduler_.next()) {
    if (!scheduler_.running().empty() && !has_room(*request)) return;
    step::Sequence& s = request->sequence();
    if (!s.target_kv)
      s.target_kv.emplace(pages_).expect(static_cast<std::int32_t>(s.tokens.capacity()));
    request->admitted(prefixes_ ? prefixes_->restore(*s.target_kv, s.tokens) : 0);
    scheduler_.admit();
  }
}

// Its text, and a page for each sequence that runs, which may soon need one more.
bool Loop::has_room(Active& request) const {
  const std::int64_t pages = request.num_tokens() / kv::kPageTokens + 1;
  const std::int64_t wanted = pages + std::ssize(scheduler_.running());
  const auto& models = request.sequence().strategy->models;
  return pages_.obtainable() >= wanted &&
         std::ranges::all_of(models, [&](const step::DraftModel* model) {
           return model->pages().obtainable() >= wanted;
         });
}

List<step::Progress> Loop::run(List<Share>& shares, trace::Sink& sink) {
  for (;;) {
    List<step::Part> parts;
    for (const Share& share : shares)
      parts.emplace_back(&share.request->sequence(), share.chunk_tokens, share.feed_tokens);
    if (auto progress = step_.run(parts, oracle_, timings_)) return std::move(*progress);
    const step::Lap scheduling(sched_ns_);
    if (!make_room(sink)) return {};
    shares = scheduler_.pick(step_);
  }
}

// False when one request alone finds no pages: it ends with that error.
bool Loop::make_room(trace::Sink& sink) {
  if (scheduler_.running().size() == 1) {
    scheduler_.running().front()->end(
        trace::FinishReason::ERROR,
        "the KV pages ran out for one sequence alone; raise engine.kv_pages or draft less widely");
    return false;
  }
  return preempt(sink);
}

bool Loop::preempt(trace::Sink& sink) {
  if (scheduler_.running().empty()) return false;
  Active& request = scheduler_.preempt();
  ++preempted_;
  request.preempted();
  event(trace::Event::PREEMPTED, request, static_cast<double>(request.num_tokens()), sink);
  step::Step::release_pages(request.sequence());
  return true;
}

// What a step leaves behind: pages for later prompts, events, its record.
void Loop::keep(Active& request, step::Progress progress, trace::Sink& sink) {
  if (prefixes_) {
    const step::Lap keeping(timings_.kv);
    publish(request);
  }
  if (progress.fault != step::Fault::NONE)
    event(progress.fault == step::Fault::BAD_ROW ? trace::Event::BAD_ROW
                                                 : trace::Event::PLUGIN_FAILED,
          request, 0, sink);
  if (!progress.bad_draft.empty()) {
    event(trace::Event::DRAFT_REFUSED, request, progress.drafted, sink);
    warn_once(request, progress.bad_draft);
  }
  if (progress.is_feed)
    event(trace::Event::DRAFT_FED, request, static_cast<double>(batches_), sink);
  if (progress.is_chunk) return;
  const step::Lap logging(log_ns_);
  progress.record.batch_id = batches_;
  sink.step(std::move(progress.record));
}

// A refused draft costs speed and nothing else: the first of a drafter is said, all are counted.
void Loop::warn_once(Active& request, const std::string& why) {
  const std::string& drafter = request.sequence().strategy->drafter.name();
  if (warned_of_.insert(drafter).second)
    logging::warn("a draft was refused, this step was decoded plainly; further ones of " + drafter +
                  " are counted in the trace alone: " + why);
}

// Full pages of tokens that stay: what a stop has cut off goes first.
void Loop::publish(Active& request) const {
  step::Sequence& s = request.sequence();
  const auto stays = static_cast<std::int32_t>(request.num_emitted()) + s.prompt_tokens;
  if (s.target_kv->tokens() > stays) s.target_kv->truncate(stays);
  prefixes_->publish(*s.target_kv, s.tokens);
}

void Loop::report_ended(trace::Sink& sink) {
  for (const auto& request : scheduler_.take_ended()) {
    step::Step::forget(request->sequence());
    request->sequence().target_kv.reset();
    const step::Lap logging(log_ns_);
    request->report(sink);
  }
}

void Loop::report_slow(trace::Sink& sink) {
  if (!watchdog_) return;
  for (const Watchdog::Slow& call : watchdog_->take_slow())
    sink.event({now_ns(), static_cast<std::uint16_t>(trace::Event::PLUGIN_SLOW), call.sequence,
                call.seconds});
}

void Loop::record_batch(std::int64_t start_ns, std::int64_t tokens_ns, std::size_t num_seqs,
                        trace::Sink& sink) {
  trace::BatchRecord b;
  b.batch_id = batches_++;
  b.n_seqs = static_cast<std::uint16_t>(num_seqs);
  b.n_rows = timings_.rows;
  b.t_start_ns = start_ns;
  b.draft_ns = timings_.draft;
  b.target_ns = timings_.target;
  b.verify_ns = timings_.verify;
  b.sample_ns = timings_.sample;
  b.kv_ns = timings_.kv;
  b.sched_ns = sched_ns_;
  b.log_ns = timings_.log + std::exchange(log_ns_, 0);
  b.tokens_ns = tokens_ns;
  b.total_ns = now_ns() - start_ns;
  sink.batch(b);
  if (b.batch_id % kBatchesPerSample == 0) sample_memory(sink);
}

void Loop::sample_memory(trace::Sink& sink) {
  trace::KvRecord r;
  r.t_ns = now_ns();
  r.batch_id = batches_ - 1;
  r.blocks_total = static_cast<std::uint64_t>(pages_.total());
  r.blocks_used = static_cast<std::uint64_t>(pages_.total() - pages_.available());
  r.preempted = preempted_;
  if (prefixes_) r.evicted = static_cast<std::uint64_t>(prefixes_->evicted());
  r.running = scheduler_.running().size();
  r.waiting = scheduler_.waiting().size();
  r.host_rss_bytes = static_cast<std::uint64_t>(resident_bytes());
  sink.kv(r);
}

void Loop::event(trace::Event code, const Active& request, double value, trace::Sink& sink) {
  sink.event({now_ns(), static_cast<std::uint16_t>(code), request.request().key, value});
}

}  // namespace redline::engine
