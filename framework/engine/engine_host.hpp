// SPDX-License-Identifier: Apache-2.0
// What plugins may ask for while they are made: the target's shape, models, other plugins.
#pragma once
#include <memory>
#include <vector>

#include "engine/hosted_model.hpp"
#include "engine/hosted_module.hpp"
#include "plugin/registry.hpp"
#include "redline/host.hpp"
#include "text/tokenizer.hpp"
#include "trace/budgets.hpp"

namespace redline::engine {

class EngineHost final : public Host {
 public:
  // draft_degree: of models that are opened without one; ranks: the highest there can be.
  EngineHost(const plugin::Registry& registry, const model::Shape& target,
             const text::Tokenizer& tokenizer, int draft_degree, int ranks)
      : registry_(registry),
        target_(target),
        tokenizer_(tokenizer),
        draft_degree_(draft_degree),
        ranks_(ranks) {}
  const std::vector<std::unique_ptr<HostedModel>>& models() const { return models_; }
  const std::vector<std::unique_ptr<HostedModule>>& modules() const { return modules_; }
  const std::vector<Tap>& taps() const { return taps_; }  // that the target keeps for modules
  // A plugin; the modules it opens get the taps that it declares. PluginError: a tap at a layer
  // that the target lacks.
  template <class T>
  std::unique_ptr<T> make(const std::string& name, const plugin::Arguments& arguments) {
    return std::unique_ptr<T>(static_cast<T*>(make(T::kKind, name, arguments).release()));
  }
  bool costs_are_wanted() const { return costs_are_wanted_; }
  Costs& costs_to_fill() { return costs_; }
  void seal() { is_sealed_ = true; }  // memory is planned: no further model is opened
  // Models and modules asked for since start_list(), each once.
  void start_list() { list_.clear(); }
  const std::vector<Hosted*>& list() const { return list_; }

 private:
  TargetShape do_target() const override;
  // One model for all who ask for the same of the same file. InputError: no such model, one that
  // was not opened before the start, a vocabulary that is not the target's (first differing id,
  // both texts, the overlap), or as savings_of().
  redline::Model& do_open_model(const ModelChoice& choice, std::int32_t degree) override;
  // Likewise, for the same file and graph.
  redline::Model& do_open_module(std::string_view weights, void (*build)(ModuleBuilder&)) override;
  const Costs& do_costs() override {
    costs_are_wanted_ = true;
    return costs_;
  }
  RecordedBudgets do_recorded_budgets(std::string_view trace) override {
    return trace::recorded_budgets(trace);
  }
  std::unique_ptr<Plugin> do_open(Kind kind, std::string_view name,
                                  std::span<const Setting> settings) override;

  std::unique_ptr<Plugin> make(Kind kind, const std::string& name,
                               const plugin::Arguments& arguments);
  void check_open(const std::string& what) const;
  void note(Hosted& asked_for);
  void bind(const std::string& drafter, std::span<const Tap> taps);

  const plugin::Registry& registry_;
  const model::Shape& target_;
  const text::Tokenizer& tokenizer_;
  int draft_degree_, ranks_;
  std::vector<std::unique_ptr<HostedModel>> models_;
  std::vector<std::unique_ptr<HostedModule>> modules_;
  std::vector<HostedModule*> unbound_;  // opened by the drafter that is being made
  std::vector<Tap> taps_;
  std::vector<Hosted*> list_;
  Costs costs_;
  bool is_sealed_ = false, costs_are_wanted_ = false;
};

}  // namespace redline::engine
