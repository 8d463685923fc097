// SPDX-License-Identifier: Apache-2.0
// What one sequence is to one step while it runs: filled from top to bottom, in the step's order.
#pragma once
#include <vector>

#include "step/step.hpp"

namespace redline::step {

struct Work {
  Work(Sequence& s, redline::Sequence seen, bool is_first)
      : sequence(s), view(seen), is_prefill(is_first), draft(seen.vocab) {}
  Work(const Work&) = delete;  // plugins hold references to the view and the draft

  Sequence& sequence;
  redline::Sequence view;  // what plugins see; moves on with the commit
  bool is_prefill;         // the first token: nothing is drafted
  Budget budget;
  std::optional<kv::Lease> lease;
  std::optional<LoggedDraws> draws;
  Draft draft;  // as verified
  trace::DraftStop draft_stop = trace::DraftStop::BUDGET;
  std::int32_t root_row = 0;        // of the batch; node u is u rows further
  std::vector<Chain::Path> memory;  // [m+1] of the sampler at each node
  std::vector<Row> p;               // [m+1]
  Verdict verdict;
  Progress progress;

  bool failed() const { return !progress.error.empty(); }
  void hold_to_laws(const Plugin& who) const;  // PluginError when it misused its noise
  std::vector<Node> line(Node n) const;        // from below the root to n
};

// Adds the time from its making to its end.
class Lap {
 public:
  explicit Lap(std::int64_t& total_ns);
  ~Lap();
  Lap(const Lap&) = delete;  // it would be counted twice

 private:
  std::int64_t& total_ns_;
  std::int64_t start_ns_;
};

}  // namespace redline::step
