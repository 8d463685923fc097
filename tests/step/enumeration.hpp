// SPDX-License-Identifier: Apache-2.0
// Exact enumeration over the plugins of the build, by default of the tests' own drafter and policy.
#pragma once
#include "check/vectors.hpp"
#include "step/cell.hpp"

namespace redline::step {

using check::C1, check::V2, check::VA, check::VB, check::VC, check::VD, check::VP;
using check::Finding, check::flat, check::Law, check::law_of, check::Pair, check::Table;

struct Case {
  const Pair& tables;
  Choice rule, drafter = {"test_table"}, length = {"test_length"};
  std::vector<Choice> links = {};
  bool links_on_draft = false;
  int steps = 1, tokens_left = 100;
  std::vector<Token> stops = {};
};

inline Finding enumerate(const Case& c) {
  return check::enumerate(registry(), {c.tables, c.rule, c.drafter, c.length, c.links,
                                       c.links_on_draft, c.steps, c.tokens_left, c.stops});
}

}  // namespace redline::step
