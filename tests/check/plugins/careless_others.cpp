// SPDX-License-Identifier: Apache-2.0
// Policies and links that forget an edge or mix up their sequences.
#include "redline/plugin.hpp"

namespace {

class FirstOf final : public redline::DraftLength {  // takes a batch to have a first
  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    if (batch.empty()) throw redline::Error("a batch has no first");
    for (redline::Budget& b : budgets) b = {4, 4};
  }
};

class ByRequest final : public redline::DraftLength {  // depth by how many requests came before
  struct Depth final : redline::State {
    explicit Depth(int d) : depth(d) {}
    int depth;
  };
  std::unique_ptr<redline::State> do_begin(const redline::Sequence&) override {
    return std::make_unique<Depth>(1 + requests_++ % 4);
  }
  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    for (std::size_t k = 0; k < batch.size(); ++k) {
      const int depth = batch[k].as<Depth>().depth;
      budgets[k] = {depth, depth};
    }
  }
  int requests_ = 0;
};

class NeverEmpty final : public redline::DraftLength {  // takes every step to have drafted
  void do_choose(std::span<const redline::Turn>, std::span<redline::Budget> budgets) override {
    for (redline::Budget& b : budgets) b = {4, 4};
  }
  void do_observe(std::span<const redline::Outcome> batch) override {
    for (const redline::Outcome& o : batch)
      if (o.draft.size() == 0) throw redline::Error("nothing to learn from");
  }
};

struct Nothing {};
class CountsAnywhere final : public redline::SamplerOf<Nothing> {  // tokens of whatever text
  redline::Slot do_slot() const override { return redline::Slot::PENALTY; }
  void step(Nothing&, redline::Token) const override { ++seen_; }
  void edit(const Nothing&, redline::Logits& row) const override {
    row.add(0, -.05F * static_cast<float>(seen_));
  }
  mutable int seen_ = 0;
};
}  // namespace

REDLINE_PLUGIN(redline::entry<FirstOf>("first_of", "takes a batch to have a first"),
               redline::entry<ByRequest>("depth_by_request", "depth by request"),
               redline::entry<NeverEmpty>("never_empty", "takes every step to have drafted"),
               redline::entry<CountsAnywhere>("counts_anywhere", "one memory for all texts"));
