// SPDX-License-Identifier: Apache-2.0
// summary.json: a cell's figures in the names of vLLM's serving benchmark, ours under "spec".
#pragma once
#include <span>

#include "config/value.hpp"
#include "experiment/request_log.hpp"

namespace redline::experiment {

// Warm-up requests are left out; failed ones count as failed and nowhere else.
config::Value summary_of(std::span<const Finished> requests);

}  // namespace redline::experiment
