// SPDX-License-Identifier: Apache-2.0
// A sequence's way into a step and out of it.
#include <algorithm>
#include <numeric>

#include "step/draft_model.hpp"
#include "step/layout.hpp"
#include "step/step.hpp"
#include "step/work.hpp"

namespace redline::step {

redline::Sequence Sequence::view(std::int32_t room, std::int32_t vocab) const {
  return {request_key, tokens, prompt_tokens, std::min(tokens_left, room), vocab, stop_tokens};
}

redline::Sequence Step::view(const Sequence& sequence) const {
  const auto n = static_cast<std::int32_t>(sequence.tokens.size());
  return sequence.view(target_.context() - n + 1, target_.vocab());
}

bool Step::is_first(const Sequence& sequence) {
  return sequence.tokens.size() == static_cast<std::size_t>(sequence.prompt_tokens);
}

void Step::begin(Sequence& sequence) const {
  if (sequence.begun) return;
  if (!sequence.target_kv || sequence.tokens.empty())
    throw Error("step: a sequence needs a token and a KV cache of the target to begin");
  const auto seen = view(sequence);
  sequence.drafter_state = strategy_.drafter.begin(seen);
  sequence.length_state = strategy_.length.begin(seen);
  sequence.memory = strategy_.chain.begin(seen);
  sequence.begun = true;
}

bool Step::prefill(Sequence& sequence, Timings& timings) {
  const Lap lap(timings.total);
  begin(sequence);
  if (!feed_target(sequence, timings)) return false;
  const Lap drafting(timings.draft);
  const auto seen = view(sequence);
  try {
    return std::all_of(draft_models_.begin(), draft_models_.end(),
                       [&](DraftModel* model) { return model->prefill(seen); });
  } catch (const DeviceError&) {
    throw;
  } catch (const Error&) {
    return true;  // a prompt the draft model cannot take: said and counted when it is asked to
                  // draft
  }
}

// Feeds what the target's cache lacks of the tokens before the root, but for the last chunk of a
// prompt, which the first run() takes along.
bool Step::feed_target(Sequence& sequence, Timings& timings) {
  kv::Cache& cache = *sequence.target_kv;
  const auto root = static_cast<std::int32_t>(sequence.tokens.size()) - 1;
  const std::int32_t left_over = is_first(sequence) ? target_.max_rows() - 1 : 0;
  while (root - cache.tokens() > left_over) {
    const std::int32_t from = cache.tokens();
    const std::int32_t rows = std::min(root - from, target_.max_rows());
    auto lease = kv::Lease::reserve(cache, rows);
    if (!lease) return false;
    batch_.clear();
    add_committed(batch_, sequence.tokens, from, from + rows);
    batch_.segments.push_back({&cache, 0, rows});
    {
      const Lap lap(timings.target);
      target_.forward(batch_);
    }
    timings.rows += static_cast<std::uint32_t>(rows);
    std::vector<std::int32_t> all(rows);
    std::iota(all.begin(), all.end(), from);
    lease->commit(all);
  }
  return true;
}

void Step::forget(Sequence& sequence) {
  for (DraftModel* model : draft_models_) model->forget(sequence.request_key);
  sequence.drafter_state.reset();
  sequence.length_state.reset();
  sequence.memory.clear();
  sequence.begun = false;
}

}  // namespace redline::step
