// SPDX-License-Identifier: Apache-2.0
#include "check/cost_scene.hpp"

#include "check/cell.hpp"
#include "step/chain.hpp"

namespace redline::check {
namespace {

// As the engine makes it. Rows of one salt lean the same way.
Row some_row(int salt, float sharpness) {
  const std::vector<Token> text{1};
  return step::Chain().apply({},
                             hashed(kCostVocab, static_cast<std::uint64_t>(salt), sharpness)(text));
}

}  // namespace

CostRows::CostRows(int nodes) {
  for (int n = 0; n <= nodes; ++n) {
    p.push_back(some_row(n, kCostSharpness));
    q.push_back(some_row(n, kCostSharpness / 2));
  }
}

Widths chain_of(int depth) { return Widths(static_cast<std::size_t>(depth), 1); }

redline::Law law_for(const RuleContract& contract) {
  return contract.reads.row       ? redline::Law::ROW
         : contract.reads.coupled ? redline::Law::COUPLED
                                  : redline::Law::DELTA;
}

Draft draft_of(const CostRows& rows, const Widths& widths, redline::Law law,
               const std::function<Token(Node)>& token) {
  Draft draft(kCostVocab);
  std::vector<Node> level{kRoot};
  for (const int width : widths) {
    std::vector<Node> below;
    for (const Node u : level)
      for (int k = 0; k < width; ++k) below.push_back(draft.append({u, token(u), law, rows.q[u]}));
    level = std::move(below);
  }
  return draft;
}

Draft drawn_draft(const CostRows& rows, const Widths& widths, redline::Law law, Draws& draws) {
  return draft_of(rows, widths, law, [&](Node u) {
    return law == redline::Law::COUPLED ? draws.gumbel_argmax(u, rows.q[u])
                                        : draws.categorical(u, rows.q[u]);
  });
}

}  // namespace redline::check
