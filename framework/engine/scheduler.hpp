// SPDX-License-Identifier: Apache-2.0
// Who runs: first come, first served. Requests wait in the order of their arrival and none
// overtakes another; the one that arrived last gives its pages back when they run out, so the one
// that arrived first always goes on. Of those running, who was served longest ago enters an
// iteration first: with n running, each is served at least once in n iterations.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/active.hpp"
#include "step/step.hpp"

namespace redline::engine {

struct Share {  // of one iteration
  Active* request;
  std::int32_t chunk_tokens, feed_tokens;  // as in step::Part
};

class Scheduler {
 public:
  // rows: of one iteration, those of the widest forward.
  Scheduler(std::int32_t max_running, std::int32_t rows) : max_running_(max_running), rows_(rows) {}

  void add(std::unique_ptr<Active> request);
  // The next to be admitted, if one waits and a place is free.
  Active* next() const;
  void admit();  // it runs from now on
  // The last to arrive of those running waits again, before all that came after it.
  Active& preempt();

  // Shares of one iteration, within its rows: a sequence enters with its root and all its nodes or
  // waits; prompts enter in chunks, and take at most half of the rows, rounded up, from sequences
  // that decode. Drafts that have much to catch up with are fed in chunks of as many rows again.
  List<Share> pick(const step::Step& step);

  // Requests that have ended, running or waiting, in order of arrival.
  List<std::unique_ptr<Active>> take_ended();
  const std::vector<std::unique_ptr<Active>>& running() const { return running_; }
  const std::deque<std::unique_ptr<Active>>& waiting() const { return waiting_; }
  Active* find(std::uint64_t request_key) const;  // null: no such request
  template <class F>
  void for_each(F&& f) const {
    for (const auto& request : running_) f(*request);
    for (const auto& request : waiting_) f(*request);
  }

 private:
  std::int32_t max_running_, rows_;
  std::uint64_t arrivals_ = 0, iteration_ = 0;
  std::deque<std::unique_ptr<Active>> waiting_;   // by arrival
  std::vector<std::unique_ptr<Active>> running_;  // by arrival
};

}  // namespace redline::engine
