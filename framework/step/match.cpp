// SPDX-License-Identifier: Apache-2.0
#include "step/strategy.hpp"

namespace redline::step {
namespace {

void refuse_unmet(const Plugin& who, const Needs& needs) {
  if (!needs.taps.empty())
    throw PluginError(who.name() + " needs hidden states of " + std::to_string(needs.taps.size()) +
                      " layers; this engine taps none. Choose another plugin");
  if (needs.auxiliary_rows > 0)
    throw PluginError(who.name() + " needs " + std::to_string(needs.auxiliary_rows) +
                      " auxiliary rows; this engine has none. Choose another plugin");
}

}  // namespace

Match match(const Drafter& drafter, const AcceptanceRule& rule) {
  const DrafterContract draws = drafter.contract();
  const RuleContract takes = rule.contract();
  refuse_unmet(drafter, draws.needs);
  refuse_unmet(rule, takes.needs);
  if (draws.shape == Shape::TREE && takes.shape == Shape::CHAIN)
    throw PluginError(drafter.name() + " drafts trees, " + rule.name() +
                      " takes chains; choose another rule or a chain drafter");
  return draws.anticipates && draws.emits.row && takes.reads.row ? Match::DOWNGRADE : Match::AS_IS;
}

}  // namespace redline::step
