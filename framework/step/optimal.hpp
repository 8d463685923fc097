// SPDX-License-Identifier: Apache-2.0
// The most that any lossless rule could keep of siblings, on average over what they might have
// been: optimal transport's bound (arXiv 2502.18779, 2410.18234).
#pragma once
#include "redline/draft.hpp"

namespace redline::step {

// Of siblings drawn from q alike and independently: the least over sets H of tokens of
// p(H) + 1 - q(H)^siblings. O(V log V).
double most_kept(const Row& p, const Row& q, int siblings);

// Of the children of a node by the laws they were drawn from, p following the node. NaN where it
// is not known: sampled children of several laws, more than two without replacement, coupled ones
// beside others.
double most_kept(const Draft& draft, Node parent, const Row& p);

}  // namespace redline::step
