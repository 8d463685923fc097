// SPDX-License-Identifier: Apache-2.0
// One request as a step holds it, and its share of an iteration.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kv/cache.hpp"
#include "step/strategy.hpp"

namespace redline::step {

struct Sequence {
  std::uint64_t request_key = 0, seed = 0;
  const Strategy* strategy = nullptr;
  std::vector<Token> tokens;  // prompt and output, all committed; never empty
  std::int32_t prompt_tokens = 0;
  std::int32_t tokens_left = 0;        // what max_tokens still allows, bonus included
  std::int32_t top_logprobs = 0;       // alternatives wanted beside each committed token
  std::uint32_t steps = 0;             // steps so far; keys the draft, accept, residual draws
  std::vector<Token> stop_tokens;      // sorted; nothing is drafted below one
  std::optional<kv::Cache> target_kv;  // the engine's to open, on the target's pool

  // Made by the step when it first meets the sequence; they survive preemption.
  bool begun = false;
  std::unique_ptr<State> drafter_state, length_state;
  Chain::Path memory;            // sampler memories after every committed token
  std::optional<Budget> budget;  // of its next step: chosen once, however long it waits
  std::optional<Budget> chosen;  // likewise, as the policy gave it, before it was cut
  std::string fault, refusal;    // of begin and choose: error and bad_draft of the next Progress

  bool is_first() const { return tokens.size() == static_cast<std::size_t>(prompt_tokens); }
  // Committed tokens before the root that the target's cache lacks.
  std::int32_t missing() const;
  // What plugins see. room: how many more tokens the contexts allow, bonus included.
  redline::Sequence view(std::int32_t room, std::int32_t vocab) const;
};

struct Part {
  Part(Sequence* whose, std::int32_t chunk_tokens = 0, std::int32_t feed_tokens = 0)
      : sequence(whose), chunk(chunk_tokens), feed(feed_tokens) {}
  Sequence* sequence;
  // 0: the sequence enters whole, with what its cache lacks, its root and all its nodes. Otherwise
  // so many of the committed tokens that its cache lacks, which yield nothing.
  std::int32_t chunk;
  // Otherwise so many of those that its draft models lack: the target is not run for it.
  std::int32_t feed;
};

}  // namespace redline::step
