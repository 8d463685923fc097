// SPDX-License-Identifier: Apache-2.0
// What one sequence is to one step while it runs: filled from top to bottom, in the step's order.
#pragma once
#include <vector>

#include "kv/lease.hpp"
#include "model/batch.hpp"
#include "step/draws.hpp"
#include "step/progress.hpp"
#include "step/sequence.hpp"

namespace redline::step {

// Of the target's cache; of those of draft models; whole: nothing is drafted; whole.
enum class WorkKind : std::uint8_t { CHUNK, FEED, FIRST, DECODE };

struct Work {
  Work(const Part& part, redline::Sequence seen);
  Work(const Work&) = delete;  // plugins hold references to the view and the draft

  Sequence& sequence;
  redline::Sequence view;  // what plugins see; moves on with the commit
  WorkKind kind;
  std::int32_t chunk;  // committed tokens fed; of a whole part all that the target's cache lacks
  Budget budget;
  std::optional<kv::Lease> lease;
  std::optional<LoggedDraws> draws;
  Draft draft;                        // as verified
  List<trace::AnswerRecord> answers;  // of the length policy while it grew
  trace::DraftStop draft_stop = trace::DraftStop::BUDGET;
  const model::Output* output = nullptr;  // of its forward, until the next one
  std::int32_t root_row = 0;              // of the batch; node u is u rows further
  List<Chain::Path> memory;               // [m+1] of the sampler at each node
  List<Row> p;                            // [m+1]
  Verdict verdict;
  float expected_accepted = 0;  // by the rule's own word, with the verdict
  List<float> tv;               // [m+1] of an approximate rule where nodes are traced
  List<float> optimal;          // [m+1] of nodes with children, on request
  Progress progress;

  const Strategy& strategy() const { return *sequence.strategy; }
  bool is_whole() const { return kind == WorkKind::FIRST || kind == WorkKind::DECODE; }
  // Whether draft models are fed committed tokens beside a forward of theirs that drafts.
  bool fills_drafts() const {
    return kind == WorkKind::FEED || (kind != WorkKind::DECODE && strategy().feeds_prompts());
  }
  bool failed() const { return progress.fault != Fault::NONE; }
  void fail(Fault fault, const std::string& why);
  std::int32_t root() const { return static_cast<std::int32_t>(view.tokens.size()) - 1; }
  std::int32_t rows() const;  // of the target that it takes
  // Raw logits after a node, of target and draft; empty: not asked for, or not kept. Until commit.
  std::span<const float> target_row(Node n) const;
  std::span<const float> draft_row(Node n) const;
  List<Node> line(Node n) const;     // from below the root to n
  List<Node> passed() const;         // the root and the kept path
  List<std::int32_t> kept() const;   // slots that stay after the verdict
  void drop_draft(std::string why);  // a plain step instead
  void roll_back();                  // nothing of this step stays in any cache
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
