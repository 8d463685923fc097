// SPDX-License-Identifier: Apache-2.0
// Random contexts for proofs: laws drawn from Dirichlet(1/2), every fifth probability exactly zero.
#pragma once
#include "check/enumeration.hpp"

namespace redline::check {

// Target and draft laws of every context of up to three tokens, of V = 3 or, one in four, V = 4;
// the same on every machine.
Pair random_pair(std::uint32_t number);

}  // namespace redline::check
