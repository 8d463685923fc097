// SPDX-License-Identifier: Apache-2.0
// The greedy-draft scheme in the wrong order: the best tokens of q first, the one drawn from the
// others last. Exact, and it keeps less.
#include "redline/plugin.hpp"

namespace {

class GreedyLast final : public redline::Drafter {
 public:
  struct Params {
    int k = 2;
    void visit(redline::ParameterVisitor& v) { v("k", k, {1, 8}, "siblings"); }
  };
  GreedyLast(const Params& p, redline::Host& host) : k_(p.k), model_(host.open_model("draft")) {}

 private:
  redline::DrafterContract do_contract() const override {
    return {.emits = {.row = true}, .shape = redline::Shape::TREE};
  }
  void do_propose(std::span<redline::Proposal> batch) override {
    for (redline::Proposal& p : batch) {
      if (!p.has_room(redline::kRoot)) continue;
      const redline::Row q = model_.next(p, redline::kRoot);
      std::vector<redline::Token> best;
      for (const auto& [token, mass] : q.top(static_cast<std::size_t>(k_ - 1))) {
        p.add(redline::kRoot, token, q);
        best.push_back(token);
      }
      p.sample(redline::kRoot, q.without(best));
    }
  }
  int k_;
  redline::Model& model_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<GreedyLast>("greedy_last", "the best tokens, then a sample"));
