// SPDX-License-Identifier: Apache-2.0
// Another policy, switched off where speculation costs more than it brings. What it knows is pooled
// over the requests of a run.
#include <algorithm>
#include <chrono>
#include <utility>

#include "redline/plugin.hpp"
#include "switch.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Wrapped final : redline::State {
  std::unique_ptr<redline::State> inner;
  redline::Budget budget;   // of the step at hand
  bool is_chosen = false;   // a step is under way whose beginning was seen
  Clock::time_point began;  // of that step
  double together = 1;      // sequences whose steps began with it
  std::int32_t behind = 0;  // committed tokens before the root that the draft has not been fed
  double fed_ns = 0;        // what feeding them costs in the step at hand
  double owed_ns = 0;       // what feeding has cost and steps have not gained yet
};

class Auto final : public redline::DraftLength {
 public:
  struct Params {
    std::string policy = "length_fixed", times = "stored";
    int max_depth = 4, backoff = 256, max_backoff = 8192, half_life = 64;
    double loss_budget = .02;
    void visit(redline::ParameterVisitor& v) {
      v("policy", policy, "the length policy that is switched");
      v("times", times, {"stored", "live"},
        "costs of a step: from the stored table, or from the clock (then no run can be made "
        "again)");
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
        is_live_(p.times == "live"),
        switch_({p.loss_budget, static_cast<double>(p.half_life), p.backoff, p.max_backoff}) {}

 private:
  static constexpr double kNews = .1;  // weight of the latest plain step

  static std::unique_ptr<redline::DraftLength> open(const Params& p, redline::Host& host) {
    const std::string depth = std::to_string(p.max_depth);
    const redline::Setting settings[] = {{"max_depth", depth}};
    return host.open<redline::DraftLength>(p.policy, settings);
  }

  redline::Reads do_reads() const override {
    const bool reads_clock = is_live_ || inner_->reads() == redline::Reads::CLOCK;
    return reads_clock ? redline::Reads::CLOCK : redline::Reads::BATCH;
  }

  std::unique_ptr<redline::State> do_begin(const redline::Sequence& s) override {
    auto state = std::make_unique<Wrapped>();
    state->inner = inner_->begin(s);
    state->behind = static_cast<std::int32_t>(s.tokens.size()) - 1;
    return state;
  }

  static redline::Turn inner_turn(const redline::Turn& turn) {
    return {turn.sequence, turn.as<Wrapped>().inner.get()};
  }

  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    std::fill(budgets.begin(), budgets.end(), redline::Budget{});
    if (switch_.may_draft()) {
      std::vector<redline::Turn> inner;
      for (const auto& turn : batch) inner.push_back(inner_turn(turn));
      const auto chosen = inner_->choose(inner);
      for (std::size_t k = 0; k < batch.size(); ++k)
        if (admits(batch[k], chosen[k])) budgets[k] = chosen[k];
    }
    const auto now = is_live_ ? Clock::now() : Clock::time_point();
    for (std::size_t k = 0; k < batch.size(); ++k) {
      auto& state = batch[k].as<Wrapped>();
      state.budget = budgets[k];
      state.is_chosen = true;
      state.began = now, state.together = static_cast<double>(batch.size());
    }
  }

  // Whether it drafts now; what its draft has to be fed for that is charged.
  bool admits(const redline::Turn& turn, redline::Budget budget) {
    auto& state = turn.as<Wrapped>();
    const redline::Sequence& s = turn.sequence;
    const int depth = std::min({budget.max_depth, budget.max_nodes, s.tokens_left - 1});
    if (depth <= 0) return false;
    const double feed_ns = costs_.catch_up_ns(state.behind, context_of(s));
    if (!could_earn(s, depth, feed_ns) || !switch_.admits(feed_ns)) return false;
    switch_.feed(feed_ns, state.owed_ns);
    state.fed_ns = feed_ns;
    state.behind = 0;
    return true;
  }

  // Whether drafts of at most that depth, if all of them were kept to the end of the request, would
  // gain what feeding costs.
  bool could_earn(const redline::Sequence& s, int depth, double feed_ns) const {
    double most = 0;  // gained a token
    for (int d = 1; d <= depth && feed_ns > 0; ++d)
      most = std::max(
          most, costs_.target.ns(1, context_of(s)) - costs_.step_ns(d, d, context_of(s)) / (d + 1));
    return s.tokens_left * most >= feed_ns;
  }

  static std::int32_t context_of(const redline::Sequence& s) {
    return static_cast<std::int32_t>(s.tokens.size());
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
    const std::int32_t context = context_of(o.turn.sequence);
    const int committed = o.draft.depth(o.verdict.keep) + 1;
    const double took_ns = std::exchange(state.is_chosen, false) ? live_ns(state) : 0;
    const double fed_ns = std::exchange(state.fed_ns, 0);
    if (state.budget.max_nodes == 0) {
      state.behind += committed;
      if (took_ns > 0) live_plain_ns_ = plain_ns(context) + kNews * (took_ns - plain_ns(context));
      return switch_.plain_step(took_ns > 0 ? took_ns : plain_ns(context));
    }
    const double spec_ns =
        took_ns > 0 ? std::max(took_ns - fed_ns, plain_ns(context)) : stored_ns(o.draft, context);
    switch_.speculative_step({static_cast<double>(committed), spec_ns, plain_ns(context)},
                             state.owed_ns);
  }

  // Since its budget was asked for, of one sequence; 0 when the clock is not read.
  double live_ns(const Wrapped& state) const {
    if (!is_live_) return 0;
    const std::chrono::duration<double, std::nano> passed = Clock::now() - state.began;
    return passed.count() / state.together;
  }

  // Until a plain step was timed, the table stands in.
  double plain_ns(std::int32_t context) const {
    return live_plain_ns_ > 0 ? live_plain_ns_ : costs_.target.ns(1, context);
  }

  // One that drafted nothing has asked what might follow the root.
  double stored_ns(const redline::Draft& draft, std::int32_t context) const {
    return costs_.step_ns(draft.size(), std::max(1, draft.height()), context);
  }

  std::unique_ptr<redline::DraftLength> inner_;
  const redline::Costs& costs_;
  bool is_live_;
  double live_plain_ns_ = 0;  // a plain step by the clock; 0: none was timed
  Switch switch_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Auto>("length_auto",
                                    "another policy, off where speculation does not pay"));
