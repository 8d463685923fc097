// SPDX-License-Identifier: Apache-2.0
// One step of draft and verify over a batch of sequences, in the order of docs/design.md: choose,
// reserve, propose, lay out, forward, apply, judge, commit, observe, record.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kv/lease.hpp"
#include "model/forward.hpp"
#include "redline/plugin.hpp"
#include "step/chain.hpp"
#include "step/draws.hpp"
#include "step/row_record.hpp"
#include "trace/sink.hpp"

namespace redline::step {

class DraftModel;  // a drafter's model: paged, its cache follows the committed tokens

// How sequences are decoded: the plugins of a run. Borrowed; outlives every step.
struct Strategy {
  Drafter& drafter;
  AcceptanceRule& rule;
  DraftLength& length;
  const Chain& chain;
};

// One request as a step holds it.
struct Sequence {
  std::uint64_t request_key = 0, seed = 0;
  std::vector<Token> tokens;  // prompt and output, all committed; never empty
  std::int32_t prompt_tokens = 0;
  std::int32_t tokens_left = 0;        // what max_tokens still allows, bonus included
  std::uint32_t steps = 0;             // steps so far; keys the draft, accept, residual draws
  std::vector<Token> stop_tokens;      // sorted; nothing is drafted below one
  std::optional<kv::Cache> target_kv;  // the engine's to open, on the target's pool
  // Made by the step when it first meets the sequence.
  bool begun = false;
  std::unique_ptr<State> drafter_state, length_state;
  Chain::Path memory;  // sampler memories after every committed token
  // What plugins see. room: how many more tokens the contexts allow, bonus included.
  redline::Sequence view(std::int32_t room, std::int32_t vocab) const;
};

// What one step did to one sequence, whose tokens, tokens_left and steps have moved on with it. The
// engine walks `committed` token by token for its stops.
struct Progress {
  std::vector<Token> committed;  // kept path, then the next token
  std::vector<float> logprobs;   // of each committed token, from p
  std::vector<float> margins;    // of each: its raw logit less the best other one
  std::uint16_t drafted = 0, accepted_by_rule = 0;  // depth of the draft, of the kept path
  std::string error;         // not empty: this request ends with it, the others go on
  std::string bad_draft;     // not empty: the draft failed, this was a plain step instead
  trace::StepRecord record;  // `emitted` and `batch_id` are the engine's to fill
};

struct Timings {  // of one iteration, ns
  std::int64_t draft = 0, target = 0, verify = 0, sample = 0, kv = 0, total = 0;
  std::uint32_t rows = 0;  // of the target
};

// What may not be joined is refused (PluginError: shape, needs); what may be joined only as deltas
// is downgraded, said once by the caller.
enum class Match : std::uint8_t { AS_IS, DOWNGRADE };
Match match(const Drafter& drafter, const AcceptanceRule& rule);

struct Work;  // one sequence in one step

class Step {
 public:
  // draft_models: those the drafter opened; their caches are committed and rolled back with the
  // step. PluginError: the drafter and the rule may not be joined.
  Step(model::Forward& target, Strategy strategy, std::vector<DraftModel*> draft_models,
       trace::Level level, std::int32_t topk,
       const kernels::Ops& ops = kernels::ops(kernels::best()));

  // Feeds the prompt, wanting nothing, in chunks as wide as a forward, and leaves the last chunk to
  // the first run(). False when pages run out: call it again when some are free.
  bool prefill(Sequence& sequence, Timings& timings);
  // One iteration. A sequence's first one drafts nothing and yields the token that prefill is timed
  // by (kind PREFILL). std::nullopt: pages ran out, nothing changed.
  std::optional<std::vector<Progress>> run(std::span<Sequence* const> sequences, Oracle& oracle,
                                           Timings& timings);
  void forget(Sequence& sequence);  // the request ended: draft caches and states go

 private:
  using Works = std::deque<Work>;  // its elements stay where they are: plugins hold references
  redline::Sequence view(const Sequence& sequence) const;
  static bool is_first(const Sequence& sequence);
  void begin(Sequence& sequence) const;
  bool feed_target(Sequence& sequence, Timings& timings);
  void roll_back(Work& work);

  void choose(Works& works, Timings& timings);
  Budget cut(Budget budget, const Work& work) const;
  bool reserve(Works& works, Timings& timings);
  void propose(Works& works, Oracle& oracle, Timings& timings);
  void start_draws(Work& work, Oracle& oracle) const;
  bool try_propose(std::span<Work* const> asked);
  void drop_draft(Work& work, std::string why);
  std::size_t lay_out_whole(Works& works, std::size_t first);
  const model::Output& forward(Timings& timings);
  void verify(Work& work, const model::Output& rows, Timings& timings);
  void apply(Work& work, const RowAt& target);
  void judge(Work& work);
  void commit(Work& work);
  void move_on(Work& work, const RowAt& target);
  void observe(Works& works);

  model::Forward& target_;
  Strategy strategy_;
  std::vector<DraftModel*> draft_models_;
  RowRecorder recorder_;
  Match match_;
  model::Batch batch_;
};

}  // namespace redline::step
