// SPDX-License-Identifier: Apache-2.0
// Trees of a given shape from a draft model, siblings drawn in one of four ways: one forward a
// level, all sequences of the batch together.
#include <algorithm>
#include <charconv>

#include "redline/plugin.hpp"

namespace {

using redline::Node, redline::Row, redline::Token;

using Level = std::vector<int>;  // children of its slots; the last count holds for the rest

// "2;2,1": two children of the root, two of the first of them and one of the second.
std::vector<Level> parse(const std::string& shape) {
  std::vector<Level> levels(1);
  const char *at = shape.data(), *const end = at + shape.size();
  for (;;) {
    int count = 0;
    const auto [after, error] = std::from_chars(at, end, count);
    if (error != std::errc{} || count < 0 || count > 64)
      throw redline::InputError("draft_tree: shape '" + shape +
                                "' has no count of 0 to 64 children at character " +
                                std::to_string(at - shape.data()) + "; write e.g. 3;2,1,1");
    levels.back().push_back(count);
    if (after == end) return levels;
    if (*after == ';') levels.emplace_back();
    at = *after == ',' || *after == ';' ? after + 1 : after;  // else refused as no count
  }
}

class DraftTree final : public redline::Drafter {
 public:
  struct Params {
    redline::ModelChoice model;
    std::string shape = "2;1", method = "new";
    void visit(redline::ParameterVisitor& v) {
      model.visit(v);
      v("shape", shape, "children per node, level by level, e.g. 3;2,1");
      v("method", method, {"iid", "new", "greedy", "top"},
        "siblings: i.i.d., without replacement, one sample then the best, or the best");
    }
  };
  DraftTree(const Params& p, redline::Host& host)
      : method_(p.method), model_(open(p.model, host)), levels_(parse(p.shape)) {}

 private:
  struct Spot {  // a node that may have children
    redline::Proposal* proposal;
    Node node;
    std::size_t slot;  // its place in its level of the full shape: no token moves it
  };

  static redline::Model& open(const redline::ModelChoice& choice, redline::Host& host) {
    if (choice.model.empty())
      throw redline::InputError("model is empty; name the draft model, e.g. model: my-draft");
    return host.open_model(choice);
  }
  static int children(const Level& level, std::size_t slot) {
    return level[std::min(slot, level.size() - 1)];
  }

  redline::DrafterContract do_contract() const override {
    const bool is_chain =
        std::all_of(levels_.begin(), levels_.end(), [](const Level& l) { return l[0] == 1; });
    return {.emits = {.row = method_ != "top"},
            .shape = is_chain ? redline::Shape::CHAIN : redline::Shape::TREE};
  }

  // A level that does not fit the budget is left out whole, so that no token decides which of its
  // nodes are drafted.
  void do_propose(std::span<redline::Proposal> batch) override {
    redline::List<Spot> spots;
    for (redline::Proposal& p : batch) spots.push_back({&p, redline::kRoot, 0});
    int nodes = 0;          // of the full shape, so far
    std::size_t slots = 1;  // of this level
    for (const Level& level : levels_) {
      redline::List<std::size_t> first;  // slot of each slot's first child
      std::size_t below = 0;
      for (std::size_t s = 0; s < slots; ++s) {
        first.push_back(below);
        below += children(level, s);
      }
      nodes += static_cast<int>(below);
      std::erase_if(spots, [&](const Spot& s) {
        return children(level, s.slot) == 0 || nodes > s.proposal->budget().max_nodes ||
               !s.proposal->has_room(s.node);
      });
      if (spots.empty()) return;
      spots = grow(spots, level, first);
      slots = below;
    }
  }

  redline::List<Spot> grow(const redline::List<Spot>& spots, const Level& level,
                           const redline::List<std::size_t>& first) const {
    redline::List<redline::Ask> asks;
    for (const Spot& s : spots)
      asks.push_back({s.proposal->sequence(), s.proposal->draft(), s.node});
    const redline::List<Row> q = model_.forward(asks);
    redline::List<Spot> below;
    for (std::size_t k = 0; k < spots.size(); ++k) {
      const auto [proposal, node, slot] = spots[k];
      const redline::List<Node> grown = siblings(*proposal, node, q[k], children(level, slot));
      for (std::size_t c = 0; c < grown.size(); ++c)
        if (grown[c] != redline::kNone) below.push_back({proposal, grown[c], first[slot] + c});
    }
    return below;
  }

  redline::List<Node> siblings(redline::Proposal& proposal, Node u, const Row& q, int count) const {
    redline::List<Node> out;
    if (method_ == "iid" || method_ == "new") {
      const int most = method_ == "iid" ? count : std::min(count, q.vocab());
      for (int c = 0; c < most; ++c)
        out.push_back(method_ == "iid" ? proposal.sample(u, q) : proposal.sample_new(u, q));
      return out;
    }
    const bool samples = method_ == "greedy";
    redline::List<Token> best;
    for (const Row::Entry& e : q.top(std::min(count, q.vocab()) - samples)) best.push_back(e.token);
    // The sample comes from outside the best, and first: only then is the pair optimal.
    if (samples) out.push_back(proposal.sample(u, q.without(best)));
    for (const Token t : best) out.push_back(proposal.add(u, t, q));
    return out;
  }

  std::string method_;
  redline::Model& model_;
  std::vector<Level> levels_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<DraftTree>("draft_tree", "trees from a smaller model"));
