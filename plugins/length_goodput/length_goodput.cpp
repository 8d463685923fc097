// SPDX-License-Identifier: Apache-2.0
// Drafts one token more while it is worth its cost: the chance that it survives, against what
// drafting and verifying it takes of the tokens that the same time brings otherwise (Dinkelbach's
// method for the ratio of tokens to time). Costs come from the stored table, so runs repeat.
#include <algorithm>
#include <array>
#include <cmath>

#include "redline/plugin.hpp"

namespace {

constexpr int kBuckets = 10;

// How often tokens of a confidence were kept, by tenths of confidence. Until something is known, a
// draft is taken to be right as often as it says it is.
class Calibration {
 public:
  double kept(double confidence) const {
    const Count& c = counts_[bucket(confidence)];
    return (kPrior * confidence + c.kept) / (kPrior + c.tested);
  }
  void learn(double confidence, bool is_kept) {
    Count& c = counts_[bucket(confidence)];
    c.tested = kFading * c.tested + 1;
    c.kept = kFading * c.kept + is_kept;
  }
  // A step that tested nothing: what is known ages, so that no draft is written off for good.
  void age() {
    for (Count& c : counts_) c.tested *= kAging, c.kept *= kAging;
  }

 private:
  static constexpr double kPrior = 4, kFading = 0.98;  // the last fifty tokens or so
  static constexpr double kAging = 0.99;               // slower: each retrial has its price
  struct Count {
    double tested = 0, kept = 0;
  };
  static int bucket(double confidence) {
    return std::clamp(static_cast<int>(confidence * kBuckets), 0, kBuckets - 1);
  }
  std::array<Count, kBuckets> counts_;
};

struct Pace final : redline::State {
  Calibration calibration;
  double tokens = 0, ns = 0;     // fading sums over the steps so far
  std::vector<double> survival;  // [depth] of this step's path, 1 at the root
};

double confidence_of(const redline::Row& q) { return q.top(1).front().p; }

class Goodput final : public redline::DraftLength {
 public:
  struct Params {
    int max_depth = 16, half_life = 32;
    void visit(redline::ParameterVisitor& v) {
      v("max_depth", max_depth, {1, 64}, "longest path, in tokens");
      v("half_life", half_life, {1, 4096}, "steps after which a step weighs half in the pace");
    }
  };
  Goodput(const Params& p, redline::Host& host)
      : max_depth_(p.max_depth), fading_(std::exp2(-1.0 / p.half_life)), costs_(host.costs()) {}

 private:
  std::unique_ptr<redline::State> do_begin(const redline::Sequence&) override {
    return std::make_unique<Pace>();
  }

  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    for (const redline::Turn& turn : batch) turn.as<Pace>().survival.assign(1, 1.0);
    std::fill(budgets.begin(), budgets.end(), redline::Budget{max_depth_, max_depth_});
  }

  bool do_proceed(redline::Turn turn, int depth, const redline::Row& q_next) const override {
    Pace& pace = turn.as<Pace>();
    const auto context = static_cast<std::int32_t>(turn.sequence.tokens.size());
    pace.survival.resize(std::min<std::size_t>(pace.survival.size(), depth + 1), 1.0);
    const double survives = pace.survival.back() * pace.calibration.kept(confidence_of(q_next));
    pace.survival.push_back(survives);
    const double more = costs_.draft.ns(1, context) + costs_.target.ns(depth + 2, context) -
                        costs_.target.ns(depth + 1, context);
    return survives >= tokens_per_ns(pace, context) * more;
  }

  double tokens_per_ns(const Pace& pace, std::int32_t context) const {
    if (pace.ns > 0) return pace.tokens / pace.ns;
    const double plain = costs_.target.ns(1, context);
    return plain > 0 ? 1 / plain : 0;
  }

  void do_observe(std::span<const redline::Outcome> batch) override {
    for (const redline::Outcome& o : batch) {
      Pace& pace = o.turn.as<Pace>();
      const auto context = static_cast<std::int32_t>(o.turn.sequence.tokens.size());
      const int depth = o.draft.height();
      pace.tokens = fading_ * pace.tokens + o.draft.depth(o.verdict.keep) + 1;
      pace.ns = fading_ * pace.ns + costs_.step_ns(o.draft.size(), depth, context);
      if (depth == 0) pace.calibration.age();
      learn(pace.calibration, o);
    }
  }

  // The kept path and the first token refused after it: of those below, nothing is known.
  static void learn(Calibration& calibration, const redline::Outcome& o) {
    const auto take = [&](redline::Node n, bool is_kept) {
      if (const auto& row = o.draft.item(n).row) calibration.learn(confidence_of(*row), is_kept);
    };
    for (redline::Node n = o.verdict.keep; n != redline::kRoot; n = o.draft.parent(n))
      take(n, true);
    if (const auto refused = o.draft.first_child(o.verdict.keep); refused != redline::kNone)
      take(refused, false);
  }

  int max_depth_;
  double fading_;
  const redline::Costs& costs_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Goodput>("length_goodput",
                                       "one token more while it is worth its measured cost"));
