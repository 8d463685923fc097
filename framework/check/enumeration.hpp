// SPDX-License-Identifier: Apache-2.0
// Every outcome of every decision of built plugins, through the whole step: the law of what is
// emitted, held against plain decoding's (algorithm of exact enumeration by replay).
#pragma once
#include <limits>
#include <map>

#include "check/cell.hpp"

namespace redline::check {

// Text below the first token -> probabilities; {} is the default.
using Table = std::map<std::vector<Token>, std::vector<float>>;
struct Pair {
  Table p, q;
};
inline Pair flat(const std::vector<float>& p, const std::vector<float>& q) {
  return {{{{}, p}}, {{{}, q}}};
}
ScriptedModel::Law law_of(const Table& table);

struct Case {
  const Pair& tables;
  Choice rule, drafter, length;
  std::vector<Choice> links = {};
  bool links_on_draft = false;
  int steps = 1, tokens_left = 100;
  std::vector<Token> stops = {};
  bool traces_nodes = false;
  MakeDrafter make_drafter = {};  // stands in for `drafter`
  bool learns = false;            // from one request for the next: each run has a cell of its own
};

using Law = std::map<std::vector<Token>, double>;

struct Finding {
  double accepted = 0, joint_tv = 0, first_tv = 0;
  double expected = 0;  // accepted, as the rule itself foretold it of each draft
  double told_tv = std::numeric_limits<double>::quiet_NaN();  // of the first token, likewise
  std::vector<double> by_count = {};  // the chance of keeping 0, 1, ... tokens
  long runs = 0;
  Law first = {}, joint = {};  // of the first token, of all D+1
};

// Error: a step ended with an error. PluginError: noise put to a use that would bias the output.
Finding enumerate(const plugin::Registry& registry, const Case& c);

}  // namespace redline::check
