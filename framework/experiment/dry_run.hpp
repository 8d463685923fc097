// SPDX-License-Identifier: Apache-2.0
// What a run would do: its cells, settings, requests, models and traces, without doing any of it.
#pragma once
#include <string>

#include "experiment/plan.hpp"

namespace redline::experiment {

std::string dry_run_text(const Plan& plan, bool json);  // json: the resolved config alone

}  // namespace redline::experiment
