// SPDX-License-Identifier: Apache-2.0
#include "experiment/step_tally.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace redline;
using namespace redline::experiment;

namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

trace::StepRecord step(std::uint64_t key, std::uint16_t drafted, std::uint16_t kept,
                       float expected) {
  trace::StepRecord record;
  record.request_key = key;
  record.kind = drafted ? trace::StepKind::SPECULATIVE : trace::StepKind::PLAIN;
  record.n_nodes = record.max_depth = record.drafted = drafted;
  record.accepted_by_rule = kept;
  record.expected_accepted = expected;
  record.context_len = 64;
  return record;
}

// A row of the target costs 10, a pass of it 90 beside them; a step of the draft costs 20.
Costs costs() {
  Costs costs;
  costs.target.points = {{64, 1, 100}, {64, 2, 110}, {64, 8, 170}};
  costs.draft.points = {{64, 1, 20}};
  return costs;
}

}  // namespace

TEST_CASE("Kept and foretold tokens add up where the rule foretold, request by request") {
  trace::NoTrace trace;
  const Costs measured = costs();
  StepTally tally(trace, measured);
  tally.step(step(1, 3, 2, 1.5f));
  tally.step(step(2, 3, 3, 2.5f));
  tally.step(step(1, 3, 0, .25f));
  tally.step(step(1, 3, 1, kUnknown));
  tally.step(step(1, 0, 0, kUnknown));
  const Tally one = tally.take(1);
  CHECK(one.foretold_steps == 2);
  CHECK(one.kept == 2);
  CHECK(one.foretold == 1.75);
  CHECK(tally.take(2).kept == 3);
  CHECK(tally.take(1) == Tally{});  // a request that runs again begins anew
}

TEST_CASE("A step costs its pass of the target and a pass of the draft a level") {
  trace::NoTrace trace;
  const Costs measured = costs();
  StepTally tally(trace, measured);
  trace::StepRecord prefill = step(1, 0, 0, kUnknown);
  prefill.kind = trace::StepKind::PREFILL;
  tally.step(prefill);
  tally.step(step(1, 0, 0, kUnknown));
  CHECK(tally.take(1).cost_ns == Approx(100));
  trace::StepRecord tree = step(1, 3, 1, 1);
  tree.n_nodes = 7;
  tally.step(tree);
  CHECK(tally.take(1).cost_ns == Approx(170 + 3 * 20));
}

TEST_CASE("What a draft is fed is part of the cost, beside a prompt or later, drafted or not") {
  trace::NoTrace trace;
  Costs measured = costs();
  measured.draft.points.push_back({64, 11, 70});
  StepTally tally(trace, measured);
  trace::StepRecord fed = step(1, 3, 1, 1);
  fed.draft_fed = 10;
  tally.step(fed);
  CHECK(tally.take(1).cost_ns == Approx(130 + 3 * 20 + 50));
  fed.n_nodes = fed.max_depth = fed.drafted = 0;  // the policy let nothing follow
  tally.step(fed);
  CHECK(tally.take(1).cost_ns == Approx(100 + 50));
  fed.kind = trace::StepKind::PREFILL;  // the target's own prefill is in no figure
  tally.step(fed);
  CHECK(tally.take(1).cost_ns == Approx(50));
}

TEST_CASE("Without a cost table a step costs nothing, which is no figure") {
  trace::NoTrace trace;
  const Costs none;
  StepTally tally(trace, none);
  tally.step(step(1, 3, 1, 1));
  CHECK(tally.take(1).cost_ns == 0);
}
