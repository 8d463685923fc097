// SPDX-License-Identifier: Apache-2.0
// Trees of a given shape from a draft model, drawn in any way a drafter may draw. Shape by levels:
// "1;1" is a chain of 2; "2;2,1" gives the root two children, the first of them two, the second
// one.
#include <algorithm>

#include "redline/plugin.hpp"

namespace {
using redline::Node, redline::Row, redline::Token;

class TableDrafter final : public redline::Drafter {
 public:
  struct Params {
    std::string shape = "1", mode = "iid";
    void visit(redline::ParameterVisitor& v) {
      v("shape", shape, "children per node, level by level");
      v("mode", mode,
        "iid, new (without replacement), top (deltas), greedy (one sample, then "
        "deltas), coupled");
    }
  };
  TableDrafter(const Params& p, redline::Host& host)
      : mode_(p.mode), model_(host.open_model("draft")), levels_(1) {
    for (const char c : p.shape) {
      if (c >= '0' && c <= '9') levels_.back().push_back(c - '0');
      if (c == ';') levels_.emplace_back();
    }
  }

 private:
  redline::DrafterContract do_contract() const override {
    const bool chain = std::all_of(levels_.begin(), levels_.end(),
                                   [](const auto& level) { return level == std::vector{1}; });
    return {{mode_ != "top" && mode_ != "coupled", mode_ == "coupled"},
            chain ? redline::Shape::CHAIN : redline::Shape::TREE};
  }

  void do_propose(std::span<redline::Proposal> batch) override {
    std::vector<std::vector<Node>> frontiers(batch.size(), {redline::kRoot});
    for (const auto& counts : levels_) {
      std::vector<redline::Ask> asks;  // of all sequences in one forward
      for (std::size_t b = 0; b < batch.size(); ++b) {
        std::erase_if(frontiers[b], [&](Node n) { return !batch[b].has_room(n); });
        for (const Node n : frontiers[b])
          asks.push_back({batch[b].sequence(), batch[b].draft(), n});
      }
      if (asks.empty()) return;
      const redline::List<Row> q = model_.forward(asks);
      auto row = q.begin();
      for (std::size_t b = 0; b < batch.size(); ++b) {
        std::vector<Node> below;
        for (std::size_t k = 0; k < frontiers[b].size(); ++k, ++row)
          for (int child = 0; k < counts.size() && child < counts[k]; ++child)
            if (const Node n = grow(batch[b], frontiers[b][k], *row, child, counts[k]);
                n != redline::kNone)
              below.push_back(n);
        frontiers[b] = std::move(below);
      }
    }
  }

  Node grow(redline::Proposal& proposal, Node u, const Row& q, int child, int children) const {
    if (mode_ == "iid") return proposal.sample(u, q);
    if (mode_ == "new") return proposal.sample_new(u, q);
    if (mode_ == "coupled") return proposal.couple(u, q);
    const auto top = q.top(static_cast<std::size_t>(children));
    if (mode_ == "top")
      return child < static_cast<int>(top.size()) ? proposal.add(u, top[child].token, q)
                                                  : redline::kNone;
    std::vector<Token> kept;
    for (int k = 0; k + 1 < children; ++k) kept.push_back(top[k].token);
    return child == 0 ? proposal.sample(u, q.without(kept)) : proposal.add(u, kept[child - 1], q);
  }

  std::string mode_;
  redline::Model& model_;
  std::vector<std::vector<int>> levels_;
};

class NoDrafter final : public redline::Drafter {  // plain decoding
  redline::DrafterContract do_contract() const override { return {}; }
  void do_propose(std::span<redline::Proposal>) override {}
};

class ThrowingDrafter final : public redline::Drafter {  // after it has drafted half a chain
 public:
  struct Params {
    int id = -1;
    void visit(redline::ParameterVisitor& v) {
      v("id", id, {-1, 1e9}, "this sequence only; -1: all");
    }
  };
  ThrowingDrafter(const Params& p, redline::Host& host)
      : id_(p.id), model_(host.open_model("draft")) {}

 private:
  redline::DrafterContract do_contract() const override { return {{true}}; }
  void do_propose(std::span<redline::Proposal> batch) override {
    for (auto& proposal : batch) {
      Node at = proposal.sample(redline::kRoot, model_.next(proposal, redline::kRoot));
      if (id_ < 0 || proposal.sequence().id == static_cast<std::uint64_t>(id_))
        throw redline::Error("this drafter throws");
      while (at != redline::kNone && proposal.has_room(at))
        at = proposal.sample(at, model_.next(proposal, at));
    }
  }
  int id_;
  redline::Model& model_;
};
}  // namespace

REDLINE_PLUGIN(redline::entry<TableDrafter>("test_table", "trees from a draft model"),
               redline::entry<NoDrafter>("test_none", "proposes nothing"),
               redline::entry<ThrowingDrafter>("test_throws", "throws within a draft"));
