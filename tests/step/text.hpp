// SPDX-License-Identifier: Apache-2.0
// Whole texts from a cell, and the specs the tests vary.
#pragma once
#include "step/cell.hpp"

namespace redline::step {

inline constexpr std::int32_t kVocab = 13;

inline ScriptedModel::Law target_law() { return hashed(kVocab, 1, 6); }

// A draft model that is right except in about one text of `odds`.
inline ScriptedModel::Law like_target(std::uint64_t odds) {
  return [odds, right = target_law(), wrong = hashed(kVocab, 2, 6)](std::span<const Token> text) {
    std::uint64_t h = 77;
    for (const Token t : text) h = (h ^ static_cast<std::uint64_t>(t + 1)) * 0x9E3779B97F4A7C15U;
    return (h >> 33) % odds == 0 ? wrong(text) : right(text);
  };
}

inline Choice table(const char* shape, const char* mode) {
  return {"test_table", {{"shape", shape}, {"mode", mode}}};
}
inline Choice chain(int depth) {
  std::string shape = "1";
  for (int k = 1; k < depth; ++k) shape += ";1";
  return table(shape.c_str(), "iid");
}

inline CellSpec sampled(ScriptedModel::Law draft, Choice drafter, Choice rule) {
  return {.vocab = kVocab,
          .target = target_law(),
          .draft = std::move(draft),
          .drafter = std::move(drafter),
          .rule = std::move(rule),
          .links = {{"test_penalty", {{"factor", "1.2"}}}},
          .links_on_draft = true};
}
inline CellSpec greedy(ScriptedModel::Law draft, Choice drafter, Choice rule) {
  CellSpec spec = sampled(std::move(draft), std::move(drafter), std::move(rule));
  spec.links.push_back({"test_temperature", {{"t", "0"}}});
  return spec;
}
inline CellSpec plain(CellSpec spec) {
  spec.drafter = {"test_none"};
  if (spec.rule.name != "accept_gumbel") spec.rule = {"accept_match"};
  return spec;
}

inline std::vector<Token> prompt(int size) {
  std::vector<Token> out;
  for (int k = 0; k < size; ++k) out.push_back((5 * k + size) % kVocab);
  return out;
}

struct Reading {
  std::vector<Token> text;
  std::vector<float> logprobs, margins;
  int steps = 0, accepted = 0, bad_drafts = 0, drafted_when_long = 0;
  std::string error;
};

// Moves `s` to its end through steps of its own.
inline Reading read(Cell& cell, Sequence& s) {
  Philox noise;
  Reading r;
  while (s.tokens_left > 0 && r.error.empty()) {
    const bool is_long = static_cast<std::int32_t>(s.tokens.size()) >= cell.draft.context();
    const Progress made = cell.run(s, noise);
    r.text.insert(r.text.end(), made.committed.begin(), made.committed.end());
    r.logprobs.insert(r.logprobs.end(), made.logprobs.begin(), made.logprobs.end());
    r.margins.insert(r.margins.end(), made.margins.begin(), made.margins.end());
    r.steps += 1;
    r.accepted += made.accepted_by_rule;
    r.bad_drafts += !made.bad_draft.empty();
    r.drafted_when_long += is_long ? made.drafted : 0;
    r.error = made.error;
  }
  return r;
}
inline Reading read(const CellSpec& spec, std::vector<Token> prompt, int max_tokens,
                    std::uint64_t key = 1) {
  Cell cell(spec);
  const auto size = static_cast<std::int32_t>(prompt.size());
  Sequence s = cell.open(std::move(prompt), size, max_tokens, key);
  Philox noise;
  cell.prefill(s, noise);
  return read(cell, s);
}
inline std::vector<Token> write(const CellSpec& spec, std::vector<Token> prompt, int max_tokens,
                                std::uint64_t key = 1) {
  return read(spec, std::move(prompt), max_tokens, key).text;
}

}  // namespace redline::step
