// SPDX-License-Identifier: Apache-2.0
#include "check/cell.hpp"

namespace redline::check {

plugin::Arguments Choice::arguments() const {
  plugin::Arguments out;
  for (const auto& [key, value] : values) out.push_back({key, value, "the check"});
  return out;
}

Cell::Cell(const plugin::Registry& registry, const CellSpec& spec)
    : target(spec.vocab, spec.target, spec.target_context, spec.max_rows),
      draft(spec.vocab, spec.draft, spec.draft_context, spec.max_rows),
      target_pages(target.kv_shape(), spec.pages, true),
      draft_pages(draft.kv_shape(), spec.pages, true),
      chain(links(registry, spec)),
      model(draft, draft_pages, spec.level != trace::Level::COUNTS),
      registry_(registry),
      length_(registry.make<DraftLength>(spec.length.name, spec.length.arguments(), *this)),
      drafter_(drafter(registry, spec)),
      rule_(registry.make<AcceptanceRule>(spec.rule.name, spec.rule.arguments(), *this)),
      strategy_{*drafter_, *rule_,   *length_,
                chain,     {&model}, spec.links_on_draft ? &chain : &plain_},
      step(target, {spec.level, spec.topk, spec.optimal}) {}

std::unique_ptr<Plugin> Cell::do_open(Kind kind, std::string_view name,
                                      std::span<const Setting> settings) {
  plugin::Arguments arguments;
  for (const Setting& s : settings)
    arguments.push_back({std::string(s.name), std::string(s.value), "asked for by a plugin"});
  auto made = registry_.make(kind, std::string(name), arguments, *this);
  if (kind == Kind::DRAFTER) bind_heads(static_cast<const Drafter&>(*made));
  return made;
}

void Cell::bind_heads(const Drafter& drafter) {
  for (const auto& head : heads_) head->bind(drafter.contract().needs.taps.size());
}

step::Sequence Cell::open(std::vector<Token> tokens, std::int32_t prompt_tokens,
                          std::int32_t tokens_left, std::uint64_t key, std::uint64_t seed) {
  step::Sequence s;
  s.request_key = key;
  s.seed = seed;
  s.strategy = &strategy_;
  s.tokens = std::move(tokens);
  s.prompt_tokens = prompt_tokens;
  s.tokens_left = tokens_left;
  s.target_kv.emplace(target_pages);
  return s;
}

step::Progress Cell::run(step::Sequence& s, step::Oracle& oracle) {
  step::Sequence* const batch[] = {&s};
  return std::move(run(batch, oracle).front());
}

std::vector<step::Progress> Cell::run(std::span<step::Sequence* const> batch,
                                      step::Oracle& oracle) {
  const std::vector<step::Part> whole(batch.begin(), batch.end());
  auto progress = step.run(whole, oracle, timings).value();
  for (const step::Progress& p : progress)
    if (p.cause) std::rethrow_exception(p.cause);
  return {std::make_move_iterator(progress.begin()), std::make_move_iterator(progress.end())};
}

void Cell::prefill(step::Sequence& s, step::Oracle& oracle) {
  while (s.missing() >= target.max_rows()) {
    const step::Part chunk(&s, target.max_rows());
    step.run({&chunk, 1}, oracle, timings).value();
  }
}

Row Cell::p(std::span<const Token> tokens, std::span<const float> logits) const {
  redline::Sequence s{1, tokens, 0, 100, static_cast<std::int32_t>(logits.size())};
  return chain.apply(chain.begin(s), logits);
}

std::vector<std::unique_ptr<Sampler>> Cell::links(const plugin::Registry& registry,
                                                  const CellSpec& spec) {
  std::vector<std::unique_ptr<Sampler>> out;
  for (const Choice& link : spec.links)
    out.push_back(registry.make<Sampler>(link.name, link.arguments(), *this));
  return out;
}

std::unique_ptr<Drafter> Cell::drafter(const plugin::Registry& registry, const CellSpec& spec) {
  auto made = spec.make_drafter
                  ? spec.make_drafter(*this)
                  : registry.make<Drafter>(spec.drafter.name, spec.drafter.arguments(), *this);
  if (!spec.on_draft) return made;
  return std::make_unique<Witness>(std::move(made), spec.on_draft);
}

// Budgets that differ by request and step, with an answer for every row that a draft may ask about.
RecordedBudgets Cell::invented_budgets() {
  constexpr std::uint64_t kRequests = 512, kLongRequests = 32;
  constexpr std::uint32_t kLongSteps = 64, kSteps = 8;
  constexpr int kDepths = 4, kAskedDepths = 8, kSiblings = 16;  // a check may ask below a budget
  RecordedBudgets made;
  for (std::uint64_t key = 0; key < kRequests; ++key)
    for (std::uint32_t step = 0; step < (key < kLongRequests ? kLongSteps : kSteps); ++step) {
      const int depth = static_cast<int>((key + step) % (kDepths + 1));
      RecordedStep& here = made[key][step];
      here.budget = {depth * kSiblings, depth};
      for (int at = 0; at < kAskedDepths; ++at)
        for (int sibling = 0; sibling < kSiblings; ++sibling)
          here.answers.push_back({at, (key + step + sibling) % 3 != 0});
    }
  return made;
}

ScriptedModel::Law hashed(std::int32_t vocab, std::uint64_t salt, float sharpness) {
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

}  // namespace redline::check
