// SPDX-License-Identifier: Apache-2.0
// A block of mask tokens behind the root, all rows in one forward; a chain drawn from them.
#include <algorithm>

#include "modules/heads.hpp"
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Flash final : public redline::Drafter {
 public:
  struct Params {
    std::string weights;
    int mask = 0;
    std::string method = "sample";
    void visit(redline::ParameterVisitor& v) {
      v("weights", weights, "the head: a name or a path");
      v("mask", mask, {0, 1 << 20}, "the token that stands for one not known yet");
      v("method", method, {"sample", "greedy"}, "draw from the rows or take their best token");
    }
  };
  Flash(const Params& p, redline::Host& host)
      : mask_(p.mask),
        draws_(p.method == "sample"),
        head_(host.open_module(p.weights, redline::tests::build_flash)) {}

 private:
  redline::DrafterContract do_contract() const override {
    return {.emits = {.row = draws_}, .needs = {.taps = redline::tests::flash_taps()}};
  }
  void do_propose(std::span<redline::Proposal> batch) override {
    std::vector<redline::Draft> blocks;
    blocks.reserve(batch.size());  // asks hold references
    std::vector<redline::Ask> asks;
    for (const redline::Proposal& p : batch) {
      redline::Draft& block = blocks.emplace_back(p.sequence().vocab);
      while (block.size() + 1 < std::min(p.budget().max_depth, p.budget().max_nodes))
        block.append({block.size(), mask_});
      for (Node n = 0; n <= block.size(); ++n) asks.push_back({p.sequence(), block, n});
    }
    const auto rows = head_.forward(asks);
    const auto* row = rows.data();
    for (std::size_t b = 0; b < batch.size(); ++b) {
      Node tip = redline::kRoot;
      for (Node n = 0; n <= blocks[b].size(); ++n, ++row)
        if (tip != redline::kNone)
          tip = draws_ ? batch[b].sample(tip, *row) : batch[b].add(tip, row->argmax());
    }
  }

  redline::Token mask_;
  bool draws_;
  redline::Model& head_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Flash>("toy_flash", "a block of masks, all rows at once"));
