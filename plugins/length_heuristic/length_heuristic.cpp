// SPDX-License-Identifier: Apache-2.0
// Two deeper after a draft that was kept whole, else one less: the past of the sequence alone.
#include "redline/plugin.hpp"

namespace {

struct Depth final : redline::State {
  explicit Depth(int start) : depth(start) {}
  int depth;
};

class Heuristic final : public redline::DraftLength {
 public:
  struct Params {
    int start = 5, max_depth = 20, nodes_per_depth = 1;
    void visit(redline::ParameterVisitor& v) {
      v("start", start, {1, 64}, "depth of a request's first draft");
      v("max_depth", max_depth, {1, 64}, "longest path, in tokens");
      v("nodes_per_depth", nodes_per_depth, {1, 64}, "tokens of a draft in all, over its depth");
    }
  };
  explicit Heuristic(const Params& p) : params_(p) {}

 private:
  std::unique_ptr<redline::State> do_begin(const redline::Sequence&) override {
    return std::make_unique<Depth>(std::min(params_.start, params_.max_depth));
  }
  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    for (std::size_t k = 0; k < batch.size(); ++k) {
      const int depth = batch[k].as<Depth>().depth;
      budgets[k] = {depth * params_.nodes_per_depth, depth};
    }
  }
  void do_observe(std::span<const redline::Outcome> batch) override {
    for (const redline::Outcome& o : batch) {
      if (o.draft.size() == 0) continue;  // nothing was drafted, nothing learnt
      int& depth = o.turn.as<Depth>().depth;
      depth = o.draft.depth(o.verdict.keep) >= depth ? std::min(depth + 2, params_.max_depth)
                                                     : std::max(depth - 1, 1);
    }
  }
  Params params_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Heuristic>("length_heuristic",
                                         "two deeper after full acceptance, else one less"));
