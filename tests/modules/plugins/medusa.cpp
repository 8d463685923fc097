// SPDX-License-Identifier: Apache-2.0
// Heads that look 1, 2 and 3 tokens ahead, one forward a step; a tree of their best tokens.
#include <algorithm>

#include "modules/heads.hpp"
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Medusa final : public redline::Drafter {
 public:
  struct Params {
    std::string weights;
    int breadth = 3;
    void visit(redline::ParameterVisitor& v) {
      v("weights", weights, "the heads: a name or a path");
      v("breadth", breadth, {1, 64}, "children of the root; halves with each depth");
    }
  };
  Medusa(const Params& p, redline::Host& host)
      : breadth_(p.breadth), heads_(host.open_module(p.weights, redline::tests::build_medusa)) {}

 private:
  redline::DrafterContract do_contract() const override {
    return {.emits = {},
            .shape = redline::Shape::TREE,
            .needs = {.taps = redline::tests::medusa_taps()}};
  }
  void do_propose(std::span<redline::Proposal> batch) override {
    constexpr std::size_t kHeads = redline::tests::kMedusaHeads;
    std::vector<redline::Ask> asks;
    for (const auto& p : batch) asks.push_back({p.sequence(), p.draft(), redline::kRoot});
    const auto rows = heads_.forward(asks);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      std::vector<Node> level{redline::kRoot};
      for (std::size_t i = 0; i < kHeads; ++i) {
        std::vector<Node> below;
        for (const Node u : level)
          for (const auto& [token, mass] : rows[b * kHeads + i].top(std::max(1, breadth_ >> i)))
            if (const Node n = batch[b].add(u, token); n != redline::kNone) below.push_back(n);
        level = std::move(below);
      }
    }
  }

  int breadth_;
  redline::Model& heads_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Medusa>("toy_medusa", "parallel heads, a tree of their best"));
