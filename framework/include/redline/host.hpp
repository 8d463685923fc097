// SPDX-License-Identifier: Apache-2.0
// What a plugin's constructor may ask of the engine that makes it.
#pragma once
#include <memory>

#include "redline/cost.hpp"
#include "redline/model.hpp"
#include "redline/model_choice.hpp"
#include "redline/module.hpp"
#include "redline/parameters.hpp"
#include "redline/recorded_budgets.hpp"

namespace redline {
inline namespace v1 {

struct TargetShape {
  std::int32_t layers = 0, hidden = 0, vocab = 0, context = 0;
};

class REDLINE_API Host {  // [before start]
 public:
  virtual ~Host();
  TargetShape target() const { return do_target(); }
  // The engine owns it. `degree`: ranks it is sharded over; 0 is the target's.
  Model& open_model(const ModelChoice& choice, std::int32_t degree = 0) {
    return do_open_model(choice, degree);
  }
  Model& open_model(std::string_view path, std::int32_t degree = 0) {
    ModelChoice choice;
    choice.model = path;
    return do_open_model(choice, degree);
  }
  Model& open_module(std::string_view weights, void (*build)(ModuleBuilder&)) {
    return do_open_module(weights, build);
  }
  // What forwards cost here, measured before the first step; empty curves until then.
  const Costs& costs() { return do_costs(); }
  // What a length policy decided in an earlier run. `trace`: a file, or a cell's folder with all
  // its attempts. InputError: no trace, or one that holds no budgets.
  RecordedBudgets recorded_budgets(std::string_view trace) { return do_recorded_budgets(trace); }
  // Another plugin, for cascades, unions and choices.
  template <class T>
  std::unique_ptr<T> open(std::string_view name, std::span<const Setting> settings = {}) {
    return std::unique_ptr<T>(static_cast<T*>(do_open(T::kKind, name, settings).release()));
  }

 private:  // what a host does not override, it refuses
  virtual TargetShape do_target() const;
  virtual Model& do_open_model(const ModelChoice& choice, std::int32_t degree);
  virtual Model& do_open_module(std::string_view weights, void (*build)(ModuleBuilder&));
  virtual const Costs& do_costs();
  virtual RecordedBudgets do_recorded_budgets(std::string_view trace);
  virtual std::unique_ptr<Plugin> do_open(Kind kind, std::string_view name,
                                          std::span<const Setting> settings);
};

}  // namespace v1
}  // namespace redline
