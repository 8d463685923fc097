// SPDX-License-Identifier: Apache-2.0
// One step of draft and verify over a batch of sequences, in the order of docs/design.md: choose,
// reserve, propose, lay out, forward, apply, judge, commit, observe, record. Chunks of prompts ride
// along.
#pragma once
#include <deque>
#include <optional>
#include <vector>

#include "kv/lease.hpp"
#include "model/forward.hpp"
#include "step/draws.hpp"
#include "step/progress.hpp"
#include "step/row_maker.hpp"
#include "step/row_record.hpp"
#include "step/sequence.hpp"

namespace redline::step {

struct Work;  // one sequence in one step

class Step {
 public:
  Step(model::Forward& target, const Recorded& recorded,
       const kernels::Ops& ops = kernels::ops(kernels::best()), Watch* watch = nullptr,
       device::WorkerPool* pool = nullptr);

  // Budgets of the next step, for sequences that have none: what run() would choose itself.
  void choose(std::span<Sequence* const> sequences) const;
  // Rows of the target that the sequence takes as a whole part, at most; after choose().
  static std::int32_t rows_of(const Sequence& sequence);

  // Committed tokens that the draft model furthest behind was not fed, if the sequence is to draft;
  // after choose(). They go in its whole part, or in parts of their own before it.
  std::int32_t behind(const Sequence& sequence) const;

  // One iteration over sequences of any strategies. A sequence's first whole part drafts nothing
  // and yields the token that prefill is timed by (kind PREFILL). A plugin that throws or breaks a
  // law is the error of its own sequence. std::nullopt: pages ran out, nothing changed.
  std::optional<List<Progress>> run(std::span<const Part> parts, Oracle& oracle, Timings& timings);

  static void release_pages(Sequence& sequence);  // preempted: what its plugins know of it stays
  static void forget(Sequence& sequence);         // ended: draft caches and states go

 private:
  using Works = std::deque<Work, Recycling<Work>>;  // its elements stay where they are: plugins
                                                    // hold references
  redline::Sequence view(const Sequence& sequence) const;
  void begin(Sequence& sequence) const;
  void choose_for(std::span<Sequence* const> sequences, DraftLength& policy) const;
  Budget cut(Budget budget, const Sequence& sequence) const;

  static bool reserve(Works& works, Timings& timings);
  void propose(Works& works, Oracle& oracle, Timings& timings) const;
  void start_draws(Work& work, Oracle& oracle) const;
  void propose_together(std::span<Work*> asked, Oracle& oracle) const;
  std::size_t lay_out_whole(Works& works, std::size_t first);
  const model::Output& forward(Timings& timings);
  void verify(std::span<Work* const> works, Timings& timings);
  void sample(std::span<Work* const> works);
  void conclude(Work& work, Timings& timings) const;
  void move_on(Work& work) const;

  model::Forward& target_;
  RowMaker maker_;
  RowRecorder recorder_;
  Watch* watch_;
  model::Batch batch_;
};

}  // namespace redline::step
