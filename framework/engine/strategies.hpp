// SPDX-License-Identifier: Apache-2.0
// The plugins that requests ask for: one instance for equal choices, shared by the requests that
// name it and gone with the last of them. Those of the settings stay.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/decoding.hpp"
#include "engine/engine_host.hpp"
#include "step/strategy.hpp"

namespace redline::engine {

// How one request is decoded; owns what its Strategy borrows.
struct Plan {
  std::shared_ptr<Drafter> drafter;
  std::shared_ptr<AcceptanceRule> rule;
  std::shared_ptr<DraftLength> length;
  std::shared_ptr<const step::Chain> chain;
  step::Strategy strategy;
};

class Strategies {
 public:
  Strategies(const plugin::Registry& registry, EngineHost& host, const kernels::Ops& ops,
             step::Watch& watch)
      : registry_(registry), host_(host), ops_(ops), watch_(watch) {}

  // Makes the plugins of the settings: their models become known, so that memory can be planned.
  // others: drafters that requests may name.
  void keep(const Decoding& settings, const std::vector<PluginChoice>& others);
  step::Match match() const;  // of the settings
  Claim claim() const;        // likewise
  Reads reads() const;        // of the settings' length policy

  // InputError: an unknown plugin or parameter, a drafter whose model is not loaded. PluginError: a
  // pair that may not be joined. After the models are loaded.
  std::shared_ptr<const Plan> plan(const Decoding& wanted);

 private:
  template <class T>
  std::shared_ptr<T> instance(const PluginChoice& choice);
  std::shared_ptr<const step::Chain> chain_of(const std::vector<PluginChoice>& links);
  std::string key(Kind kind, const PluginChoice& choice) const;

  const plugin::Registry& registry_;
  EngineHost& host_;
  const kernels::Ops& ops_;
  step::Watch& watch_;
  Decoding settings_;
  std::map<std::string, std::weak_ptr<void>> made_;  // by kind, name and parameters in force
  std::shared_ptr<Drafter> drafter_;                 // of the settings
  std::shared_ptr<AcceptanceRule> rule_;             // likewise
  std::shared_ptr<DraftLength> length_;              // likewise
  std::vector<std::shared_ptr<const void>> kept_;
  std::map<const void*, std::vector<Hosted*>> models_;  // that a plugin opened
};

}  // namespace redline::engine
