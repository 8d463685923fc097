// SPDX-License-Identifier: Apache-2.0
#include "experiment/step_tally.hpp"

#include <cmath>
#include <utility>

namespace redline::experiment {
Tally StepTally::take(std::uint64_t request_key) {
  auto node = open_.extract(request_key);
  return node.empty() ? Tally{} : node.mapped();
}

void StepTally::step(trace::StepRecord record) {
  Tally& tally = open_[record.request_key];
  const auto context = static_cast<std::int32_t>(record.context_len);
  tally.cost_ns += costs_.catch_up_ns(static_cast<std::int32_t>(record.draft_fed), context);
  if (record.kind != trace::StepKind::PREFILL) {
    tally.cost_ns += costs_.step_ns(record.n_nodes, record.max_depth, context);
    if (record.drafted > 0 && !std::isnan(record.expected_accepted)) {
      ++tally.foretold_steps;
      tally.kept += record.accepted_by_rule;
      tally.foretold += record.expected_accepted;
    }
  }
  to_.step(std::move(record));
}

}  // namespace redline::experiment
