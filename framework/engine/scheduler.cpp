// SPDX-License-Identifier: Apache-2.0
#include "engine/scheduler.hpp"

#include <algorithm>
#include <tuple>

namespace redline::engine {
namespace {

bool decodes(Active& a) { return !a.sequence().is_first() && a.sequence().missing() == 0; }

}  // namespace

void Scheduler::add(std::unique_ptr<Active> request) {
  request->arrival = ++arrivals_;
  waiting_.push_back(std::move(request));
}

Active* Scheduler::next() const {
  const bool has_place = std::ssize(running_) < max_running_;
  return has_place && !waiting_.empty() ? waiting_.front().get() : nullptr;
}

void Scheduler::admit() {
  running_.push_back(std::move(waiting_.front()));
  waiting_.pop_front();
}

Active& Scheduler::preempt() {
  waiting_.push_front(std::move(running_.back()));
  running_.pop_back();
  return *waiting_.front();
}

List<Share> Scheduler::pick(const step::Step& step) {
  List<Active*> order;
  for (const auto& a : running_) order.push_back(a.get());
  std::ranges::sort(order, {}, [](Active* a) {
    return std::tuple(a->last_served, decodes(*a) ? 0 : 1, a->arrival);
  });
  List<step::Sequence*> decoding;
  for (Active* a : order)
    if (decodes(*a)) decoding.push_back(&a->sequence());
  step.choose(decoding);
  std::int32_t decode_rows = 0;
  for (const step::Sequence* s : decoding) decode_rows += step::Step::rows_of(*s);

  ++iteration_;
  List<Share> shares;
  std::int32_t left = rows_, left_for_prompts = std::max((rows_ + 1) / 2, rows_ - decode_rows);
  std::int32_t left_for_drafts = left_for_prompts;
  for (Active* a : order) {
    step::Sequence& s = a->sequence();
    std::int32_t rows = step::Step::rows_of(s), chunk = 0, feed = 0;
    if (decodes(*a)) {
      if (rows > left) continue;
      const std::int32_t behind = step.behind(s);
      if (behind > left_for_drafts) rows = 0, feed = left_for_drafts;
      if (rows == 0 && feed == 0) continue;
      left_for_drafts -= std::min(behind, left_for_drafts);
    } else {
      const std::int32_t room = std::min(left, left_for_prompts);
      const bool whole = s.is_first() && rows <= room;
      if (!whole) rows = chunk = std::min(s.missing(), room);
      if (rows == 0) continue;
      left_for_prompts -= rows;
    }
    left -= rows;
    a->last_served = iteration_;
    shares.push_back({a, chunk, feed});
  }
  return shares;
}

List<std::unique_ptr<Active>> Scheduler::take_ended() {
  List<std::unique_ptr<Active>> ended;
  const auto take = [&](auto& from) {
    for (auto& a : from)
      if (a->ended()) ended.push_back(std::move(a));
    std::erase_if(from, [](const auto& a) { return !a; });
  };
  take(running_);
  take(waiting_);
  return ended;
}

Active* Scheduler::find(std::uint64_t request_key) const {
  Active* found = nullptr;
  for_each([&](Active& a) {
    if (a.request().key == request_key) found = &a;
  });
  return found;
}

}  // namespace redline::engine
