// SPDX-License-Identifier: Apache-2.0
// A host that knows costs and opens the plugins that ship: what a length policy asks for.
#pragma once
#include "step/cell.hpp"

namespace redline::step {

struct PricedHost final : Host {
  explicit PricedHost(Costs known) : costs(std::move(known)) {}
  const Costs& do_costs() override { return costs; }
  std::unique_ptr<Plugin> do_open(Kind kind, std::string_view name,
                                  std::span<const Setting> settings) override {
    plugin::Arguments arguments;
    for (const Setting& set : settings)
      arguments.push_back({std::string(set.name), std::string(set.value), "this test"});
    return registry().make(kind, std::string(name), arguments, *this);
  }
  Costs costs;
};

}  // namespace redline::step
