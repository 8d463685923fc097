// SPDX-License-Identifier: Apache-2.0
// The engine's loop: admit what has room, run one step over whoever is picked, let each request
// take what it committed, report those that ended. When pages run out, the request that arrived
// last gives its own back and is computed again later.
#pragma once
#include <memory>
#include <optional>
#include <set>

#include "engine/scheduler.hpp"
#include "engine/watchdog.hpp"
#include "kv/prefix_cache.hpp"
#include "step/step.hpp"
#include "trace/events.hpp"

namespace redline::engine {

struct LoopNeeds {
  step::Step& step;
  kv::PagePool& pages;        // of the target
  kv::PrefixCache* prefixes;  // of the target; null: off
  std::int32_t max_num_seqs, rows_per_step;
  Watchdog* watchdog = nullptr;
};

class Loop {
 public:
  explicit Loop(const LoopNeeds& needs);
  ~Loop();  // requests that have not ended are dropped, with their pages
  Loop(const Loop&) = delete;

  void add(std::unique_ptr<Active> request);  // InputError: one of its key has not ended
  bool cancel(std::uint64_t request_key);     // false: no such request, or it has ended
  // One iteration. False when nothing is left to do.
  bool iterate(trace::Sink& sink);
  // The last to arrive of those running gives its pages back and waits. False: none runs.
  bool preempt(trace::Sink& sink);

 private:
  void admit();
  bool has_room(Active& request) const;
  List<step::Progress> run(List<Share>& shares, trace::Sink& sink);
  bool make_room(trace::Sink& sink);
  void keep(Active& request, step::Progress progress, trace::Sink& sink);
  void warn_once(Active& request, const std::string& why);
  void publish(Active& request) const;
  void report_ended(trace::Sink& sink);
  void report_slow(trace::Sink& sink);
  void record_batch(std::int64_t start_ns, std::int64_t tokens_ns, std::size_t num_seqs,
                    trace::Sink& sink);
  void sample_memory(trace::Sink& sink);
  static void event(trace::Event code, const Active& request, double value, trace::Sink& sink);

  step::Step& step_;
  kv::PagePool& pages_;
  kv::PrefixCache* prefixes_;
  Watchdog* watchdog_;
  Scheduler scheduler_;
  step::Philox oracle_;
  step::Timings timings_;      // of the iteration at hand
  std::int64_t sched_ns_ = 0;  // likewise
  std::int64_t log_ns_ = 0;    // spent on the records of the iteration before
  std::uint64_t batches_ = 0, preempted_ = 0;
  std::set<std::string> warned_of_;  // drafters whose first refused draft was said
};

}  // namespace redline::engine
