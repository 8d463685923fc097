// SPDX-License-Identifier: Apache-2.0
// One configured cell over scripted models: the plugins as built libraries, the models' pages, the
// step, and the sequences that run through it.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "check/scripted_head.hpp"
#include "check/scripted_model.hpp"
#include "check/witness.hpp"
#include "plugin/registry.hpp"
#include "step/draft_model.hpp"
#include "step/step.hpp"
#include "trace/budgets.hpp"

namespace redline::check {

struct Choice {
  std::string name;
  std::map<std::string, std::string> values = {};
  plugin::Arguments arguments() const;
};

// A drafter that is no plugin: the check's own.
using MakeDrafter = std::function<std::unique_ptr<Drafter>(Host&)>;

struct CellSpec {
  std::int32_t vocab;
  ScriptedModel::Law target, draft;
  Choice drafter, rule, length;
  std::vector<Choice> links = {};
  bool links_on_draft = false;
  std::int32_t target_context = 4096, draft_context = 4096, max_rows = 512, pages = 256;
  trace::Level level = trace::Level::COUNTS;
  std::int32_t topk = 2;
  bool optimal = false;  // beside level and topk, what a trace of it holds
  Witness::See on_draft = {};
  MakeDrafter make_drafter = {};  // stands in for `drafter`
};

class Cell : public Host {
 public:
  Cell(const plugin::Registry& registry, const CellSpec& spec);

  const step::Strategy& strategy() const { return strategy_; }
  // prompt_tokens 0: a sequence in mid-flight, whose first step may draft.
  step::Sequence open(std::vector<Token> tokens, std::int32_t prompt_tokens,
                      std::int32_t tokens_left, std::uint64_t key = 1, std::uint64_t seed = 7);
  // One step of one sequence; pages never run out here. Throws what a plugin threw.
  step::Progress run(step::Sequence& s, step::Oracle& oracle);
  // One step of several together.
  std::vector<step::Progress> run(std::span<step::Sequence* const> batch, step::Oracle& oracle);
  // Feeds the prompt in chunks as wide as a forward, as far as the first step cannot take it along.
  void prefill(step::Sequence& s, step::Oracle& oracle);
  // The law of the next token of plain decoding after `tokens`.
  Row p(std::span<const Token> tokens, std::span<const float> logits) const;
  // Learned heads that the plugins opened.
  const std::vector<std::unique_ptr<ScriptedHead>>& opened_heads() const { return heads_; }

  ScriptedModel target, draft;
  kv::PagePool target_pages, draft_pages;
  step::Chain chain;
  step::DraftModel model;
  step::Timings timings;

 private:
  std::vector<std::unique_ptr<Sampler>> links(const plugin::Registry& registry,
                                              const CellSpec& spec);
  std::unique_ptr<Drafter> drafter(const plugin::Registry& registry, const CellSpec& spec);
  TargetShape do_target() const override { return {1, 2, target.vocab(), target.context()}; }
  redline::Model& do_open_model(const ModelChoice&, std::int32_t) override { return model; }
  redline::Model& do_open_module(std::string_view, void (*build)(ModuleBuilder&)) override {
    return *heads_.emplace_back(std::make_unique<ScriptedHead>(model::record_graph(build), model));
  }
  const Costs& do_costs() override { return costs_; }
  RecordedBudgets do_recorded_budgets(std::string_view trace) override {
    return trace.empty() ? invented_budgets() : trace::recorded_budgets(trace);
  }
  static RecordedBudgets invented_budgets();  // of every request that a check makes
  void bind_heads(const Drafter& drafter);
  std::unique_ptr<Plugin> do_open(Kind kind, std::string_view name,
                                  std::span<const Setting> settings) override;

  const plugin::Registry& registry_;
  // A verify pass that is nearly flat, and a cheap draft.
  Costs costs_{.target = {{{0, 1, 100.0}, {0, 65, 200.0}}},
               .draft = {{{0, 1, 10.0}, {0, 65, 20.0}}}};
  step::Chain plain_;
  std::vector<std::unique_ptr<ScriptedHead>> heads_;
  std::unique_ptr<DraftLength> length_;
  std::unique_ptr<Drafter> drafter_;
  std::unique_ptr<AcceptanceRule> rule_;
  step::Strategy strategy_;

 public:
  step::Step step;  // after all it borrows
};

// Logits of a text as a hash: any text has its own row, and no two places in a text look alike.
ScriptedModel::Law hashed(std::int32_t vocab, std::uint64_t salt, float sharpness);

}  // namespace redline::check
