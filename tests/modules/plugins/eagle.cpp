// SPDX-License-Identifier: Apache-2.0
// One layer over the target's states, a level a forward: a chain drawn from its rows, or a tree of
// its best tokens. All sequences of the batch together.
#include "modules/heads.hpp"
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Eagle final : public redline::Drafter {
 public:
  struct Params {
    std::string weights;
    int top = 0;
    void visit(redline::ParameterVisitor& v) {
      v("weights", weights, "the head: a name or a path");
      v("top", top, {0, 64}, "0: draw a chain; else children of a node at every depth");
    }
  };
  Eagle(const Params& p, redline::Host& host)
      : top_(p.top), head_(host.open_module(p.weights, redline::tests::build_eagle)) {}

 private:
  struct Tip {
    redline::Proposal* proposal;
    Node node;
  };

  redline::DrafterContract do_contract() const override {
    return {.emits = {.row = top_ == 0},
            .shape = top_ > 1 ? redline::Shape::TREE : redline::Shape::CHAIN,
            .needs = {.taps = redline::tests::eagle_taps()}};
  }
  void do_propose(std::span<redline::Proposal> batch) override {
    std::vector<Tip> tips;
    for (redline::Proposal& p : batch)
      if (p.has_room(redline::kRoot)) tips.push_back({&p, redline::kRoot});
    while (!tips.empty()) {
      std::vector<redline::Ask> asks;
      for (const Tip& t : tips)
        asks.push_back({t.proposal->sequence(), t.proposal->draft(), t.node});
      const auto rows = head_.forward(asks);
      std::vector<Tip> grown;
      for (std::size_t k = 0; k < tips.size(); ++k)
        for (const Node n : grow(tips[k], rows[k]))
          if (n != redline::kNone && tips[k].proposal->has_room(n))
            grown.push_back({tips[k].proposal, n});
      tips = std::move(grown);
    }
  }
  std::vector<Node> grow(const Tip& tip, const redline::Row& q) const {
    if (top_ == 0) return {tip.proposal->sample(tip.node, q)};
    std::vector<Node> children;
    for (const auto& [token, mass] : q.top(top_))
      children.push_back(tip.proposal->add(tip.node, token));
    return children;
  }

  int top_;
  redline::Model& head_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Eagle>("toy_eagle", "one layer over the target's states"));
