// SPDX-License-Identifier: Apache-2.0
// What a step leaves in the trace of one sequence, as much of it as the level asks for.
#pragma once
#include "step/row_record.hpp"
#include "step/work.hpp"

namespace redline::step {

// After the verdict and before the commit. Of a failed sequence: its counts alone.
trace::StepRecord record(const Work& work, const RowAt& target, const RowAt& draft,
                         const RowRecorder& recorder);

}  // namespace redline::step
