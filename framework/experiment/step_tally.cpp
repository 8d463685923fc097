// SPDX-License-Identifier: Apache-2.0
#include "experiment/step_tally.hpp"

#include <cmath>
#include <utility>

namespace redline::experiment {
namespace {

// The target sees the root and all nodes in one pass; the draft ran once a level.
double cost_of(const trace::StepRecord& step, const Costs& costs) {
  const auto context = static_cast<std::int32_t>(step.context_len);
  return costs.target.ns(1 + step.n_nodes, context) + step.max_depth * costs.draft.ns(1, context);
}

}  // namespace

Tally StepTally::take(std::uint64_t request_key) {
  auto node = open_.extract(request_key);
  return node.empty() ? Tally{} : node.mapped();
}

void StepTally::step(trace::StepRecord record) {
  if (record.kind != trace::StepKind::PREFILL) {
    Tally& tally = open_[record.request_key];
    tally.cost_ns += cost_of(record, costs_);
    if (record.drafted > 0 && !std::isnan(record.expected_accepted)) {
      ++tally.foretold_steps;
      tally.kept += record.accepted_by_rule;
      tally.foretold += record.expected_accepted;
    }
  }
  to_.step(std::move(record));
}

}  // namespace redline::experiment
