// SPDX-License-Identifier: Apache-2.0
// What a call costs at the vocabulary of a large model: told, and never a reason to fail.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "check/cost_scene.hpp"
#include "check/subject.hpp"

namespace redline::check {
namespace {

constexpr int kDepth = 8, kSiblings = 4, kRepeats = 15;

// The median of a few calls, in milliseconds.
template <class F>
std::string timed(F&& call) {
  std::vector<double> ms;
  for (int k = 0; k < kRepeats; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    const auto time = std::chrono::steady_clock::now() - begin;
    ms.push_back(std::chrono::duration<double, std::milli>(time).count());
  }
  std::ranges::sort(ms);
  char text[64];
  std::snprintf(text, sizeof text, "%.3g ms", ms[kRepeats / 2]);
  return text;
}

std::string at_v(const std::string& what) { return what + " at V = " + std::to_string(kCostVocab); }

// A rule for small vocabularies alone says so when it is made.
Subject::Made<AcceptanceRule> made_for_many(const Subject& s) {
  try {
    return s.make<AcceptanceRule>(kCostVocab);
  } catch (const Error& fault) {
    throw Refusal(fault.what());
  }
}

std::string judging(const AcceptanceRule& rule, const CostRows& rows, const Widths& widths) {
  PlainDraws draws;
  std::vector<Draft> drafts;  // made before the clock runs
  for (int k = 0; k < kRepeats; ++k)
    drafts.push_back(drawn_draft(rows, widths, law_for(rule.contract()), draws));
  const std::span p(rows.p.data(), static_cast<std::size_t>(drafts.front().size()) + 1);
  auto draft = drafts.begin();
  return timed([&] { rule.judge(*draft++, p, draws); });
}

// The shapes a rule may be for: siblings of one row only where it reads rows, without which they
// could be twins.
std::vector<std::pair<Widths, std::string>> shapes_for(const RuleContract& contract) {
  std::vector<std::pair<Widths, std::string>> out{{chain_of(kDepth), "a chain of 8"}};
  if (contract.shape == Shape::TREE && contract.reads.row)
    out.push_back({{kSiblings}, "4 siblings"});
  return out;
}

std::string cost_of_rule(const Subject& s) {
  const auto rule = made_for_many(s);
  const CostRows rows(kDepth);
  std::string told, why;  // why it refused a shape
  for (const auto& [widths, name] : shapes_for(rule->contract())) {
    try {
      const std::string time = judging(*rule, rows, widths);
      told += (told.empty() ? "" : ", ") + time + " for " + name;
    } catch (const PluginError& fault) {
      why = refusal(fault, s.listing().name);
      if (why.empty()) throw;
    }
  }
  if (told.empty()) throw Refusal(why);
  return at_v(told);
}

std::string cost_of_sampler(const Subject& s) {
  const auto link = s.make<Sampler>();
  const std::vector<Token> prompt{1, 2, 3};
  const Sequence seen{.tokens = prompt, .prompt_tokens = 3, .tokens_left = 40, .vocab = kCostVocab};
  const auto memory = link->begin(seen);
  for (const Token t : prompt) link->advance(*memory, t);
  std::vector<Logits> rows;  // made before the clock runs
  for (std::uint64_t k = 0; k < kRepeats; ++k)
    rows.emplace_back(hashed(kCostVocab, k, kCostSharpness)(prompt));
  auto row = rows.begin();
  return timed([&] { link->apply(*memory, *row++); }) + at_v(" a row");
}

std::string cost_of_length(const Subject& s) {
  const auto policy = s.make<DraftLength>();
  const std::vector<Token> text{1, 2, 3};
  const Sequence seen{
      .id = 1, .tokens = text, .prompt_tokens = 2, .tokens_left = 40, .vocab = kCostVocab};
  const auto state = policy->begin(seen);
  const Turn turn{seen, state.get()};
  const CostRows rows(0);
  return timed([&] {
           policy->choose({&turn, 1});
           for (int depth = 0; depth < kDepth; ++depth)
             static_cast<void>(policy->proceed(turn, depth, rows.p.front()));
         }) +
         at_v(" to choose and to look at 8 rows");
}

std::string cost_of_drafter(const Subject& s) {
  CellSpec spec = s.place_in_text();
  spec.vocab = kCostVocab;
  const std::vector<float> logits = hashed(kCostVocab, 1, kCostSharpness)(std::vector<Token>{1});
  spec.target = spec.draft = [&logits](std::span<const Token>) { return logits; };
  spec.max_rows = 128;
  Cell cell(s.registry(), spec);
  step::Philox noise;
  step::Sequence sequence = cell.open({0, 1, 2, 0, 1}, 0, 1000);
  cell.run(sequence, noise);
  const std::int64_t before = cell.timings.draft;
  for (int k = 0; k < kRepeats; ++k) cell.run(sequence, noise);
  cell.step.forget(sequence);
  char text[64];
  std::snprintf(text, sizeof text, "%.3g ms",
                static_cast<double>(cell.timings.draft - before) / 1e6 / kRepeats);
  return text + at_v(" a draft, its model scripted");
}

}  // namespace

std::vector<Check> cost_checks(const Subject& s) {
  return {{"cost", [&s]() -> std::string {
             switch (s.listing().kind) {
               case Kind::RULE:
                 return cost_of_rule(s);
               case Kind::SAMPLER:
                 return cost_of_sampler(s);
               case Kind::LENGTH:
                 return cost_of_length(s);
               default:
                 return cost_of_drafter(s);
             }
           }}};
}

}  // namespace redline::check
