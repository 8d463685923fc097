// SPDX-License-Identifier: Apache-2.0
// What a link of the sampling chain owes: the same row for the same logits and memory, and a memory
// that can be copied along a path that is dropped.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "check/subject.hpp"

namespace redline::check {
namespace {

constexpr std::int32_t kVocab = 8;
constexpr std::uint64_t kRows = 25;

std::vector<float> some_logits(std::uint64_t salt) {
  const std::vector<Token> text{1, 2};
  std::vector<float> logits = hashed(kVocab, salt, 6)(text);
  logits[salt % kVocab] = -INFINITY;  // an earlier link's ban
  return logits;
}

// The laws of some rows, one after the other.
std::vector<float> applied(const Sampler& link, const Sampler::Memory& memory) {
  std::vector<float> all;
  for (std::uint64_t salt = 1; salt <= kRows; ++salt) {
    Logits row(some_logits(salt));
    link.apply(memory, row);
    std::ranges::copy(row.row().to_dense(), std::back_inserter(all));
  }
  return all;
}

std::string hold_rows(const Subject& s) {
  const auto link = s.make<Sampler>();
  const std::vector<Token> prompt{3, 1, 4};
  const Sequence seen{.tokens = prompt, .prompt_tokens = 3, .tokens_left = 40, .vocab = kVocab};
  const auto memory = link->begin(seen);
  for (const Token t : prompt) link->advance(*memory, t);
  if (applied(*link, *memory) != applied(*link, *memory))
    throw Error("rows: one memory and one row of logits give two laws");
  return std::to_string(kRows) + " rows, each twice the same";
}

std::string hold_memory(const Subject& s) {
  const auto link = s.make<Sampler>();
  const std::vector<Token> prompt{3, 1, 4};
  const Sequence seen{.tokens = prompt, .prompt_tokens = 3, .tokens_left = 40, .vocab = kVocab};
  const auto kept = link->begin(seen);
  for (const Token t : prompt) link->advance(*kept, t);
  for (Token t = 0; t < kVocab; ++t) {
    const auto before = applied(*link, *kept);
    const auto branch = kept->clone();
    link->advance(*branch, t);
    if (applied(*link, *kept) != before)
      throw Error("memory: what a dropped path taught its copy stays in the original");
    const auto again = kept->clone();
    link->advance(*again, t);
    if (applied(*link, *again) != applied(*link, *branch))
      throw Error("memory: two copies that saw the same token differ");
  }
  return "copies go their own ways";
}

}  // namespace

std::vector<Check> sampler_checks(const Subject& s) {
  return {{"rows", [&s] { return hold_rows(s); }}, {"memory", [&s] { return hold_memory(s); }}};
}

}  // namespace redline::check
