// SPDX-License-Identifier: Apache-2.0
// A text with a drafter's model that follows it.
#pragma once
#include "modules/rig.hpp"
#include "step/draft_model.hpp"

namespace redline::tests {

// A text, and the head that drafts for it.
class Drafting {
 public:
  Drafting(Pair pair, step::DraftModel& model, std::uint64_t id, const std::vector<Token>& ids)
      : text(pair, ids), vocab_(pair.target.vocab()), model_(model), id_(id) {
    model_.begin(view(), chain_, &text.of_target);
  }
  redline::Sequence view() const { return {id_, text.tokens, 0, 100, vocab_}; }
  std::vector<std::vector<float>> ask(const Draft& draft, std::vector<Node> nodes) {
    const redline::Sequence seen = view();
    std::vector<Ask> asks;
    for (const Node n : nodes) asks.push_back({seen, draft, n});
    std::vector<std::vector<float>> rows;
    for (const Row& row : model_.forward(asks)) rows.push_back(row.to_dense());
    return rows;
  }
  bool fill(std::int32_t tokens) {
    if (!model_.reserve_fill(view(), tokens)) return false;
    model_.fill({&id_, 1});
    return true;
  }
  const kv::Cache& cache() const { return *model_.cache(id_); }
  void move_on(std::span<const Token> path, Token next) {
    model_.commit(id_, path);
    std::vector<Token> more(path.begin(), path.end());
    more.push_back(next);
    text.extend(more);
  }
  void roll_back() { model_.roll_back(id_); }

  Text text;

 private:
  step::Chain chain_;
  std::int32_t vocab_;
  step::DraftModel& model_;
  std::uint64_t id_;
};

}  // namespace redline::tests
