// SPDX-License-Identifier: Apache-2.0
// Another policy, switched off where speculation costs more than it brings. What it knows is pooled
// over the requests of a run.
#include "redline/plugin.hpp"
#include "switch.hpp"

namespace {

struct Wrapped final : redline::State {
  std::unique_ptr<redline::State> inner;
  redline::Budget budget;  // of the step at hand
  int behind = 0;          // committed tokens that the draft has not been fed
};

class Auto final : public redline::DraftLength {
 public:
  struct Params {
    std::string policy = "length_fixed";
    int max_depth = 4, backoff = 256, max_backoff = 8192, half_life = 64;
    double loss_budget = .02;
    void visit(redline::ParameterVisitor& v) {
      v("policy", policy, "the length policy that is switched");
      v("max_depth", max_depth, {1, 64}, "its longest path, in tokens");
      v("loss_budget", loss_budget, {0, 1}, "share of decoding time that speculation may lose");
      v("backoff", backoff, {1, 1 << 20}, "tokens decoded plainly before the first probe");
      v("max_backoff", max_backoff, {1, 1 << 20}, "the most; probes that fail double the wait");
      v("half_life", half_life, {1, 4096}, "steps after which a step weighs half");
    }
  };
  Auto(const Params& p, redline::Host& host)
      : inner_(open(p, host)),
        costs_(host.costs()),
        switch_({p.loss_budget, static_cast<double>(p.half_life), p.backoff, p.max_backoff}) {}

 private:
  static std::unique_ptr<redline::DraftLength> open(const Params& p, redline::Host& host) {
    const std::string depth = std::to_string(p.max_depth);
    const redline::Setting settings[] = {{"max_depth", depth}};
    return host.open<redline::DraftLength>(p.policy, settings);
  }

  redline::Reads do_reads() const override {
    return inner_->reads() == redline::Reads::CLOCK ? redline::Reads::CLOCK : redline::Reads::BATCH;
  }

  std::unique_ptr<redline::State> do_begin(const redline::Sequence& s) override {
    auto state = std::make_unique<Wrapped>();
    state->inner = inner_->begin(s);
    return state;
  }

  static redline::Turn inner_turn(const redline::Turn& turn) {
    return {turn.sequence, turn.as<Wrapped>().inner.get()};
  }

  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    std::fill(budgets.begin(), budgets.end(), redline::Budget{});
    if (switch_.is_on()) {
      std::vector<redline::Turn> inner;
      for (const auto& turn : batch) inner.push_back(inner_turn(turn));
      const auto chosen = inner_->choose(inner);
      std::copy(chosen.begin(), chosen.end(), budgets.begin());
    }
    for (std::size_t k = 0; k < batch.size(); ++k) batch[k].as<Wrapped>().budget = budgets[k];
  }

  bool do_proceed(redline::Turn turn, int depth, const redline::Row& q_next) const override {
    return inner_->proceed(inner_turn(turn), depth, q_next);
  }

  void do_observe(std::span<const redline::Outcome> batch) override {
    for (const redline::Outcome& o : batch) {
      const redline::Outcome inner{inner_turn(o.turn), o.draft, o.verdict, o.p, o.auxiliary};
      inner_->observe({&inner, 1});
      weigh(o);
    }
  }

  void weigh(const redline::Outcome& o) {
    Wrapped& state = o.turn.as<Wrapped>();
    const auto context = static_cast<std::int32_t>(o.turn.sequence.tokens.size());
    const int committed = o.draft.depth(o.verdict.keep) + 1;
    const double plain_ns = costs_.target.ns(1, context);
    if (state.budget.max_nodes == 0) {
      state.behind += committed;
      return switch_.plain_step(plain_ns);
    }
    const double spec_ns = costs_.target.ns(o.draft.size() + 1, context) +
                           draft_ns(o.draft.height(), state.behind, context);
    state.behind = 0;
    switch_.speculative_step({static_cast<double>(committed), spec_ns, plain_ns});
  }

  // The first forward of a draft also feeds what was decoded without it.
  double draft_ns(int depth, int behind, std::int32_t context) const {
    if (depth == 0) return 0;
    return costs_.draft.ns(1 + behind, context) + (depth - 1) * costs_.draft.ns(1, context);
  }

  std::unique_ptr<redline::DraftLength> inner_;
  const redline::Costs& costs_;
  Switch switch_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Auto>("length_auto",
                                    "another policy, off where speculation does not pay"));
