// SPDX-License-Identifier: Apache-2.0
// Another policy, switched off where speculation costs more than it brings. What it knows is pooled
// over the requests of a run.
#include <chrono>
#include <utility>

#include "redline/plugin.hpp"
#include "switch.hpp"

namespace {

struct Wrapped final : redline::State {
  std::unique_ptr<redline::State> inner;
  redline::Budget budget;  // of the step at hand
  bool is_chosen = false;  // a step is under way whose beginning was seen
  int behind = 0;          // committed tokens that the draft has not been fed
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
  using Clock = std::chrono::steady_clock;
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
    for (std::size_t k = 0; k < batch.size(); ++k) {
      batch[k].as<Wrapped>().budget = budgets[k];
      batch[k].as<Wrapped>().is_chosen = true;
    }
    if (!is_live_) return;
    began_ = Clock::now();
    together_ = static_cast<double>(batch.size());
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
    const double took_ns = std::exchange(state.is_chosen, false) ? live_ns() : 0;
    if (state.budget.max_nodes == 0) {
      state.behind += committed;
      if (took_ns > 0) live_plain_ns_ = plain_ns(context) + kNews * (took_ns - plain_ns(context));
      return switch_.plain_step(took_ns > 0 ? took_ns : plain_ns(context));
    }
    const double spec_ns = took_ns > 0 ? took_ns : stored_ns(o, state.behind);
    state.behind = 0;
    switch_.speculative_step({static_cast<double>(committed), spec_ns, plain_ns(context)});
  }

  // Since the budgets were asked for, of one sequence; 0 when the clock is not read.
  double live_ns() const {
    if (!is_live_) return 0;
    return std::chrono::duration<double, std::nano>(Clock::now() - began_).count() / together_;
  }

  // Until a plain step was timed, the table stands in.
  double plain_ns(std::int32_t context) const {
    return live_plain_ns_ > 0 ? live_plain_ns_ : costs_.target.ns(1, context);
  }

  double stored_ns(const redline::Outcome& o, int behind) const {
    const auto context = static_cast<std::int32_t>(o.turn.sequence.tokens.size());
    return costs_.target.ns(o.draft.size() + 1, context) +
           draft_ns(o.draft.height(), behind, context);
  }

  // The first forward of a draft also feeds what was decoded without it.
  double draft_ns(int depth, int behind, std::int32_t context) const {
    if (depth == 0) return 0;
    return costs_.draft.ns(1 + behind, context) + (depth - 1) * costs_.draft.ns(1, context);
  }

  std::unique_ptr<redline::DraftLength> inner_;
  const redline::Costs& costs_;
  bool is_live_;
  Clock::time_point began_;   // of the step at hand
  double together_ = 1;       // sequences in it
  double live_plain_ns_ = 0;  // a plain step by the clock; 0: none was timed
  Switch switch_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Auto>("length_auto",
                                    "another policy, off where speculation does not pay"));
