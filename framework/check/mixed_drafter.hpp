// SPDX-License-Identifier: Apache-2.0
// Trees and chains whose nodes have different laws: drawn from the draft model's row, drawn without
// replacement, or given. The mix follows from a number, never from a token, so that nothing
// anticipates.
#pragma once
#include <cstdint>
#include <string>

#include "check/cell.hpp"

namespace redline::check {

// shape: as draft_tree's, of counts below 10. From two nodes on there are a drawn and a given one.
MakeDrafter mixed_drafter(const std::string& shape, std::uint32_t number);

}  // namespace redline::check
