// SPDX-License-Identifier: Apache-2.0
// A sequence's way into a step and out of it.
#include "step/sequence.hpp"

#include <algorithm>

#include "step/draft_model.hpp"
#include "step/step.hpp"

namespace redline::step {

redline::Sequence Sequence::view(std::int32_t room, std::int32_t vocab) const {
  return {request_key, tokens, prompt_tokens, std::min(tokens_left, room), vocab, stop_tokens};
}

std::int32_t Sequence::missing() const {
  return static_cast<std::int32_t>(tokens.size()) - 1 - target_kv->tokens();
}

redline::Sequence Step::view(const Sequence& sequence) const {
  const auto n = static_cast<std::int32_t>(sequence.tokens.size());
  return sequence.view(target_.context() - n + 1, target_.vocab());
}

// The states that its plugins keep of it. A plugin that throws here is the error of this sequence.
void Step::begin(Sequence& sequence) const {
  if (sequence.begun) return;
  if (!sequence.target_kv || sequence.tokens.empty() || !sequence.strategy)
    throw Error("step: a sequence needs a token, a strategy and a KV cache to begin");
  const auto seen = view(sequence);
  const Strategy& by = *sequence.strategy;
  sequence.begun = true;
  try {
    sequence.memory = by.chain.begin(seen);
    for (DraftModel* model : by.models)
      model->begin(seen, by.draft_chain ? *by.draft_chain : by.chain, &*sequence.target_kv);
    {
      const Watched call(watch_, {&by.drafter, "begin", seen.id});
      sequence.drafter_state = by.drafter.begin(seen);
    }
    const Watched call(watch_, {&by.length, "begin", seen.id});
    sequence.length_state = by.length.begin(seen);
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception& cause) {
    sequence.fault = cause.what();
  }
}

// One that has not begun holds pages too: those of a prefix that it was admitted with.
void Step::release_pages(Sequence& sequence) {
  if (sequence.begun)
    for (DraftModel* model : sequence.strategy->models) model->release_pages(sequence.request_key);
  sequence.target_kv->clear();
}

void Step::forget(Sequence& sequence) {
  if (!sequence.begun) return;
  for (DraftModel* model : sequence.strategy->models) model->forget(sequence.request_key);
  sequence.drafter_state.reset();
  sequence.length_state.reset();
  sequence.memory.clear();
  sequence.budget.reset();
  sequence.chosen.reset();
  sequence.begun = false;
}

}  // namespace redline::step
