// SPDX-License-Identifier: Apache-2.0
// A forward bench that stays loaded and times what it is asked for, so that another program may
// take turns with it. What it says first describes the model; then a line asks, a line answers:
//   chain|tree|prompt ROWS REPEATS   {"ms": [...], "roofline_ms": ...}; a forward first, untimed
//   limits                           {"read_bytes": ..., "multiply_adds": ..., "fmas": ...} a
//   second
// What cannot be done answers {"error": ...}. The end of the input ends it.
#pragma once
#include "files/json.hpp"
#include "redline/bench_forward.hpp"
#include "redline/forward_bench.hpp"

namespace redline::tool {

int serve_forward(ForwardBench& bench, const BenchForwardOptions& options);

files::json::object described(ForwardBench& bench, const BenchForwardOptions& options);
files::json::object limits_json(const model::Limits& limits);

}  // namespace redline::tool
