// SPDX-License-Identifier: Apache-2.0
// What a rule is timed on: rows at the vocabulary of a large model, drafts below them, and chance
// that costs next to nothing.
#pragma once
#include <functional>
#include <vector>

#include "redline/draft.hpp"
#include "redline/draws.hpp"
#include "redline/needs.hpp"
#include "step/draws.hpp"

namespace redline::check {

inline constexpr std::int32_t kCostVocab = 151'936;
inline constexpr float kCostSharpness = 16;  // of the target's logits; the draft's is half

// By node: the target's law and the draft's, which lean the same way. [nodes + 1] each
struct CostRows {
  explicit CostRows(int nodes);
  std::vector<Row> p, q;
};

// How many children each node of a level has: {1, 1} is a chain, {2, 1} two that part at the root.
using Widths = std::vector<int>;
Widths chain_of(int depth);
redline::Law law_for(
    const RuleContract& contract);  // of nodes, as a run would hand them to the rule
// Siblings are i.i.d.; token: of a child of this node.
Draft draft_of(const CostRows& rows, const Widths& widths, redline::Law law,
               const std::function<Token(Node parent)>& token);

class PlainDraws : public Draws {  // by counter: no keys, no log
 protected:
  bool do_bernoulli(Node, double prob) override { return uniform() < prob; }
  Token do_categorical(Node, const Row& row) override { return row.pick(uniform()); }
  Token do_sample(Node, const Row& row) override { return row.pick(uniform()); }
  Token do_gumbel_argmax(Node node, const Row& row) override {  // a drafter's noise is the rule's
    return noise_.race({1, 1, step::Stream::GUMBEL, node, 0, 0, 0}, row);
  }

 private:
  double uniform() { return (step::philox4x32({at_++, 0, 0, 0}, 1)[0] + .5) * 0x1p-32; }
  std::uint32_t at_ = 0;
  step::Philox noise_;
};

// Drawn from q, so that some nodes are kept and most drafts are not.
Draft drawn_draft(const CostRows& rows, const Widths& widths, redline::Law law, Draws& draws);

}  // namespace redline::check
