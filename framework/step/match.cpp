// SPDX-License-Identifier: Apache-2.0
#include "step/strategy.hpp"

namespace redline::step {
namespace {

[[noreturn]] void refuse(const Plugin& who, const std::string& what, const char* why) {
  throw PluginError(who.name() + " needs " + what + "; " + why + ". Choose another plugin");
}

// Taps are for the modules that a drafter opens.
void refuse_unmet(const Plugin& who, const Needs& needs, bool opens_modules) {
  if (!needs.taps.empty() && !opens_modules)
    refuse(who, "hidden states of " + std::to_string(needs.taps.size()) + " layers",
           "only a drafter's module gets them");
  if (needs.auxiliary_rows > 0)
    refuse(who, std::to_string(needs.auxiliary_rows) + " auxiliary rows", "this engine has none");
}

}  // namespace

Match match(const Drafter& drafter, const AcceptanceRule& rule) {
  const DrafterContract draws = drafter.contract();
  const RuleContract takes = rule.contract();
  refuse_unmet(drafter, draws.needs, true);
  refuse_unmet(rule, takes.needs, false);
  if (draws.shape == Shape::TREE && takes.shape == Shape::CHAIN)
    throw PluginError(drafter.name() + " drafts trees, " + rule.name() +
                      " takes chains; choose another rule or a chain drafter");
  return draws.anticipates && draws.emits.row && takes.reads.row ? Match::DOWNGRADE : Match::AS_IS;
}

}  // namespace redline::step
