// SPDX-License-Identifier: Apache-2.0
// The most that any lossless rule could keep of i.i.d. siblings: optimal transport's bound
// (arXiv 2502.18779, 2410.18234).
#pragma once
#include "redline/row.hpp"

namespace redline::step {

// The least over sets H of tokens of p(H) + 1 - q(H)^siblings, for siblings drawn from q: the
// chance that one of them can be kept. O(V log V).
double most_kept(const Row& p, const Row& q, int siblings);

}  // namespace redline::step
