// SPDX-License-Identifier: Apache-2.0
// How a sequence is decoded: the plugins of its request, joined.
#pragma once
#include <vector>

#include "redline/plugin.hpp"
#include "step/chain.hpp"

namespace redline::step {

class DraftModel;

// What may not be joined is refused (PluginError: shape, needs); what may be joined only as deltas
// is downgraded, said once by the caller.
enum class Match : std::uint8_t { AS_IS, DOWNGRADE };
Match match(const Drafter& drafter, const AcceptanceRule& rule);

// Borrowed; outlives the sequences it decodes. Sequences that share a drafter draft in one call.
struct Strategy {
  Drafter& drafter;
  AcceptanceRule& rule;
  DraftLength& length;
  const Chain& chain;
  std::vector<DraftModel*> models = {};  // the drafter's; committed and rolled back with the step
  const Chain* draft_chain = nullptr;    // of those models; null: the request's own
  Match match = step::match(drafter, rule);
  DrafterContract contract = drafter.contract();  // asked once, not at every step
  Reads reads = length.reads();                   // likewise

  // Whether the draft's models are fed a prompt beside the target, before anybody drafts. A policy
  // that looks beyond its request may have it draft nothing, so its word is waited for.
  bool feeds_prompts() const { return contract.drafts && reads == Reads::HISTORY; }
};

}  // namespace redline::step
