// SPDX-License-Identifier: Apache-2.0
// From a draft tree to the rows of a forward: tokens, positions, slots, and what each row sees.
#pragma once
#include <span>

#include "model/batch.hpp"
#include "redline/draft.hpp"

namespace redline::step {

// The draft without what lies below a stop token: the text ends there whatever follows. Looks only
// at tokens drawn before the ones it cuts, so the law of what is left does not change.
Draft cut_below_stops(const Draft& draft, std::span<const Token> stops);  // stops: sorted

// Appends one segment: rows for tokens [first_slot, n-1) that the cache lacks (wanting nothing),
// the root, and the nodes in draft order (wanting a row each). Slots rise by one a row from
// first_slot. Returns the index of the root's row; node u is u rows further.
std::int32_t lay_out(model::Batch& batch, kv::Cache& cache, std::int32_t first_slot,
                     std::span<const Token> tokens, const Draft& draft);

}  // namespace redline::step
