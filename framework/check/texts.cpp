// SPDX-License-Identifier: Apache-2.0
#include "check/texts.hpp"

#include <algorithm>

namespace redline::check {
namespace {

constexpr std::int32_t kTextTokens = 40;

step::Sequence open(Cell& cell, std::uint64_t key) {
  const auto token = static_cast<Token>(key % static_cast<std::uint64_t>(cell.target.vocab()));
  std::vector<Token> prompt{0, token, 3, 0, token};
  const auto size = static_cast<std::int32_t>(prompt.size());
  return cell.open(std::move(prompt), size, kTextTokens, key);
}

void take(const step::Progress& made, Written& out, BadDrafts bad = BadDrafts::FAIL) {
  if (!made.error.empty()) throw Error("a request ended with an error: " + made.error);
  if (bad == BadDrafts::FAIL && !made.bad_draft.empty())
    throw Error("a draft fell away: " + made.bad_draft);
  out.drafted.push_back(made.drafted);
}

Written write(Cell& cell, std::uint64_t key, int steps, step::Oracle& oracle, BadDrafts bad) {
  step::Sequence sequence = open(cell, key);
  Written out;
  for (int k = 0; k < steps && sequence.tokens_left > 0; ++k)
    take(cell.run(sequence, oracle), out, bad);
  cell.step.forget(sequence);
  out.tokens = sequence.tokens;
  return out;
}

}  // namespace

Written write(Cell& cell, std::uint64_t key, int steps, BadDrafts bad) {
  step::Philox noise;
  return write(cell, key, steps, noise, bad);
}

Written write(Cell& cell, std::uint64_t key, int steps, step::Oracle& oracle) {
  return write(cell, key, steps, oracle, BadDrafts::FAIL);
}

std::vector<Written> write_together(Cell& cell, const std::vector<std::uint64_t>& keys, int steps,
                                    const std::function<void()>& between) {
  step::Philox noise;
  std::vector<step::Sequence> sequences;
  sequences.reserve(keys.size());  // caches stay where they are
  for (const std::uint64_t key : keys) sequences.push_back(open(cell, key));
  std::vector<Written> out(keys.size());
  for (int k = 0; k < steps; ++k) {
    std::vector<step::Sequence*> batch;
    std::vector<Written*> of;
    for (std::size_t s = 0; s < sequences.size(); ++s)
      if (sequences[s].tokens_left > 0) batch.push_back(&sequences[s]), of.push_back(&out[s]);
    if (batch.empty()) break;
    const auto made = cell.run(batch, noise);
    for (std::size_t s = 0; s < made.size(); ++s) take(made[s], *of[s]);
    if (between) between();
  }
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    cell.step.forget(sequences[s]);
    out[s].tokens = sequences[s].tokens;
  }
  return out;
}

void KeyKeeper::note(const step::Key& key) {
  using step::Stream;
  ++draws_;
  is_by_position_ &= key.stream != Stream::ACCEPT && key.stream != Stream::RESIDUAL;
  const bool may_share = key.stream == Stream::GUMBEL;  // a drafter and its rule
  if (seen_[key]++ > 0 && !may_share)
    throw Error("one key used for two draws, at position " + std::to_string(key.position));
}

bool KeyKeeper::flip(const step::Key& key, double prob) {
  note(key);
  return noise_.flip(key, prob);
}
Token KeyKeeper::pick(const step::Key& key, const Row& row) {
  note(key);
  return noise_.pick(key, row);
}
Token KeyKeeper::race(const step::Key& key, const Row& row) {
  note(key);
  return noise_.race(key, row);
}

}  // namespace redline::check
