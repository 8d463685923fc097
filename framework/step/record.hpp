// SPDX-License-Identifier: Apache-2.0
// What a step leaves in the trace of its sequences, as much of it as the level asks for, and how
// far from a tie its choices were.
#pragma once
#include "step/row_record.hpp"
#include "step/work.hpp"

namespace redline::step {

// After the verdicts and before the commits, into the progress of each. Of a failed sequence: its
// counts alone.
void record(std::span<Work* const> works, const RowRecorder& recorder);

}  // namespace redline::step
