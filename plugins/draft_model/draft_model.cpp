// SPDX-License-Identifier: Apache-2.0
// A chain from a draft model: one forward a depth, all sequences of the batch together.
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class DraftModel final : public redline::Drafter {
 public:
  struct Params {
    redline::ModelChoice model;
    std::string method = "sample";
    void visit(redline::ParameterVisitor& v) {
      model.visit(v);
      v("method", method, {"sample", "greedy", "coupled"},
        "draw from its rows, take its best token, or share the target's noise");
    }
  };
  DraftModel(const Params& p, redline::Host& host)
      : method_(p.method), model_(open(p.model, host)) {}

 private:
  struct Tip {  // the end of a chain that may still grow
    redline::Proposal* proposal;
    Node node;
  };

  static redline::Model& open(const redline::ModelChoice& choice, redline::Host& host) {
    if (choice.model.empty())
      throw redline::InputError("model is empty; name the draft model, e.g. model: my-draft");
    return host.open_model(choice);
  }

  redline::DrafterContract do_contract() const override {
    return {.emits = {.row = method_ == "sample", .coupled = method_ == "coupled"}};
  }

  void do_propose(std::span<redline::Proposal> batch) override {
    redline::List<Tip> tips;
    for (redline::Proposal& p : batch)
      if (p.has_room(redline::kRoot)) tips.push_back({&p, redline::kRoot});
    while (!tips.empty()) {
      redline::List<redline::Ask> asks;
      for (const Tip& t : tips)
        asks.push_back({t.proposal->sequence(), t.proposal->draft(), t.node});
      const redline::List<redline::Row> q = model_.forward(asks);
      redline::List<Tip> grown;
      for (std::size_t k = 0; k < tips.size(); ++k) {
        const Node n = grow(*tips[k].proposal, tips[k].node, q[k]);
        if (n != redline::kNone && tips[k].proposal->has_room(n))
          grown.push_back({tips[k].proposal, n});
      }
      tips = std::move(grown);
    }
  }

  Node grow(redline::Proposal& proposal, Node tip, const redline::Row& q) const {
    if (method_ == "greedy") return proposal.add(tip, q.argmax(), q);
    return method_ == "coupled" ? proposal.couple(tip, q) : proposal.sample(tip, q);
  }

  std::string method_;
  redline::Model& model_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<DraftModel>("draft_model", "a chain from a smaller model"));
