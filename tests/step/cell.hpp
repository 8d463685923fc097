// SPDX-License-Identifier: Apache-2.0
// One configured cell over scripted models: the plugins as built libraries, the models' pages, the
// step, and the sequences that run through it.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "plugin/registry.hpp"
#include "step/draft_model.hpp"
#include "step/scripted_model.hpp"
#include "step/step.hpp"

namespace redline::step {

// Every plugin file of the build, loaded once a process.
inline const plugin::Registry& registry() {
  static const plugin::Registry all = [] {
    plugin::Registry r;
    for (const char* folder : {REDLINE_PLUGINS, REDLINE_STEP_PLUGINS})
      for (const auto& file : std::filesystem::directory_iterator(folder))
        if (file.path().extension() == ".so") r.load(file.path());
    return r;
  }();
  return all;
}

struct Choice {
  std::string name;
  std::map<std::string, std::string> values = {};
  plugin::Arguments arguments() const {
    plugin::Arguments out;
    for (const auto& [key, value] : values) out.push_back({key, value, "the test"});
    return out;
  }
};

struct CellSpec {
  std::int32_t vocab;
  ScriptedModel::Law target, draft;
  Choice drafter = {"test_table"}, rule = {"accept_match"}, length = {"test_length"};
  std::vector<Choice> links = {};
  bool links_on_draft = false;
  std::int32_t target_context = 4096, draft_context = 4096, max_rows = 512, pages = 256;
  trace::Level level = trace::Level::COUNTS;
  std::int32_t topk = 2;
};

class Cell final : public Host {
 public:
  explicit Cell(const CellSpec& spec)
      : target(spec.vocab, spec.target, spec.target_context, spec.max_rows),
        draft(spec.vocab, spec.draft, spec.draft_context, spec.max_rows),
        target_pages(target.kv_shape(), spec.pages, true),
        draft_pages(draft.kv_shape(), spec.pages, true),
        chain(links(spec)),
        model(draft, draft_pages, spec.links_on_draft ? chain : plain_,
              spec.level != trace::Level::COUNTS),
        length_(registry().make<DraftLength>(spec.length.name, spec.length.arguments(), *this)),
        drafter_(registry().make<Drafter>(spec.drafter.name, spec.drafter.arguments(), *this)),
        rule_(registry().make<AcceptanceRule>(spec.rule.name, spec.rule.arguments(), *this)),
        step(target, {*drafter_, *rule_, *length_, chain}, {&model}, spec.level, spec.topk) {}

  // prompt_tokens 0: a sequence in mid-flight, whose first step may draft.
  Sequence open(std::vector<Token> tokens, std::int32_t prompt_tokens, std::int32_t tokens_left,
                std::uint64_t key = 1, std::uint64_t seed = 7) {
    Sequence s;
    s.request_key = key;
    s.seed = seed;
    s.tokens = std::move(tokens);
    s.prompt_tokens = prompt_tokens;
    s.tokens_left = tokens_left;
    s.target_kv.emplace(target_pages);
    return s;
  }
  // One step of one sequence; pages never run out here.
  Progress run(Sequence& s, Oracle& oracle) {
    Sequence* const batch[] = {&s};
    return std::move(step.run(batch, oracle, timings).value().front());
  }
  // The law of the next token of plain decoding after `tokens`.
  Row p(std::span<const Token> tokens, std::span<const float> logits) const {
    redline::Sequence s{1, tokens, 0, 100, static_cast<std::int32_t>(logits.size())};
    return chain.apply(chain.begin(s), logits);
  }

  ScriptedModel target, draft;
  kv::PagePool target_pages, draft_pages;
  Chain chain;
  DraftModel model;
  Timings timings;

 private:
  std::vector<std::unique_ptr<Sampler>> links(const CellSpec& spec) {
    std::vector<std::unique_ptr<Sampler>> out;
    for (const Choice& link : spec.links)
      out.push_back(registry().make<Sampler>(link.name, link.arguments(), *this));
    return out;
  }
  TargetShape do_target() const override { return {1, 2, target.vocab(), target.context()}; }
  redline::Model& do_open_model(std::string_view, std::int32_t) override { return model; }

  Chain plain_;
  std::unique_ptr<DraftLength> length_;
  std::unique_ptr<Drafter> drafter_;
  std::unique_ptr<AcceptanceRule> rule_;

 public:
  Step step;  // after all it borrows
};

// Logits of a text as a hash: any text has its own row, and no two places in a text look alike.
inline ScriptedModel::Law hashed(std::int32_t vocab, std::uint64_t salt, float sharpness) {
  return [=](std::span<const Token> text) {
    std::uint64_t h = salt;
    for (const Token t : text) h = (h ^ static_cast<std::uint64_t>(t + 1)) * 0x100000001B3U;
    std::vector<float> logits(vocab);
    for (float& x : logits) {
      h = (h ^ h >> 29) * 0xBF58476D1CE4E5B9U + 1;
      x = static_cast<float>(h >> 40) * 0x1p-24F * sharpness;
    }
    return logits;
  };
}

}  // namespace redline::step
