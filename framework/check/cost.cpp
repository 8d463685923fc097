// SPDX-License-Identifier: Apache-2.0
// What a call costs at the vocabulary of a large model: told, and never a reason to fail.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "check/subject.hpp"

namespace redline::check {
namespace {

constexpr std::int32_t kVocab = 151'936;
constexpr int kDepth = 8, kRepeats = 15;
constexpr float kSharp = 16;

class PlainDraws final : public Draws {  // chance by counter, no keys and no log
  double uniform() { return (step::philox4x32({at_++, 0, 0, 0}, 1)[0] + .5) * 0x1p-32; }
  bool do_bernoulli(Node, double prob) override { return uniform() < prob; }
  Token do_categorical(Node, const Row& row) override { return row.pick(uniform()); }
  Token do_sample(Node, const Row& row) override { return row.pick(uniform()); }
  Token do_gumbel_argmax(Node node, const Row& row) override {
    return noise_.race({1, 1, step::Stream::GUMBEL, node, 0, 0, 0}, row);
  }
  std::uint32_t at_ = 0;
  step::Philox noise_;
};

// Rows of one salt lean the same way; the sharper one is the target's.
Row some_row(std::uint64_t salt, float sharpness) {
  const std::vector<Token> text{1};
  return Logits(hashed(kVocab, salt, sharpness)(text)).row();
}

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

std::string at_v(const std::string& what) { return what + " at V = " + std::to_string(kVocab); }

// A chain that its rows drew, so that some nodes are kept and most chains are not.
Draft drawn_chain(const std::vector<Row>& q, PlainDraws& draws) {
  Draft draft(kVocab);
  for (Node n = 0; n < kDepth; ++n)
    draft.append({n, draws.categorical(n, q[n]), redline::Law::ROW, q[n]});
  return draft;
}

// A rule for small vocabularies alone says so when it is made.
Subject::Made<AcceptanceRule> made_for_many(const Subject& s) {
  try {
    return s.make<AcceptanceRule>(kVocab);
  } catch (const Error& fault) {
    throw Refusal(fault.what());
  }
}

std::string cost_of_rule(const Subject& s) {
  const auto rule = made_for_many(s);
  std::vector<Row> p, q;
  for (std::uint64_t n = 0; n <= kDepth; ++n)
    p.push_back(some_row(n, kSharp)), q.push_back(some_row(n, kSharp / 2));
  PlainDraws draws;
  try {
    std::vector<Draft> drafts;  // made before the clock runs
    for (int k = 0; k < kRepeats; ++k) drafts.push_back(drawn_chain(q, draws));
    auto draft = drafts.begin();
    return timed([&] { rule->judge(*draft++, p, draws); }) + at_v(" for a chain of 8");
  } catch (const PluginError& fault) {
    const std::string why = refusal(fault, s.listing().name);
    if (why.empty()) throw;
    throw Refusal(why);
  }
}

std::string cost_of_sampler(const Subject& s) {
  const auto link = s.make<Sampler>();
  const std::vector<Token> prompt{1, 2, 3};
  const Sequence seen{.tokens = prompt, .prompt_tokens = 3, .tokens_left = 40, .vocab = kVocab};
  const auto memory = link->begin(seen);
  for (const Token t : prompt) link->advance(*memory, t);
  std::vector<Logits> rows;  // made before the clock runs
  for (std::uint64_t k = 0; k < kRepeats; ++k) rows.emplace_back(hashed(kVocab, k, kSharp)(prompt));
  auto row = rows.begin();
  return timed([&] { link->apply(*memory, *row++); }) + at_v(" a row");
}

std::string cost_of_length(const Subject& s) {
  const auto policy = s.make<DraftLength>();
  const std::vector<Token> text{1, 2, 3};
  const Sequence seen{
      .id = 1, .tokens = text, .prompt_tokens = 2, .tokens_left = 40, .vocab = kVocab};
  const auto state = policy->begin(seen);
  const Turn turn{seen, state.get()};
  const Row q = some_row(1, kSharp);
  return timed([&] {
           policy->choose({&turn, 1});
           for (int depth = 0; depth < kDepth; ++depth)
             static_cast<void>(policy->proceed(turn, depth, q));
         }) +
         at_v(" to choose and to look at 8 rows");
}

std::string cost_of_drafter(const Subject& s) {
  CellSpec spec = s.place_in_text();
  spec.vocab = kVocab;
  const std::vector<float> logits = hashed(kVocab, 1, kSharp)(std::vector<Token>{1});
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
