// SPDX-License-Identifier: Apache-2.0
// A confidence stop that learns its threshold from the request's own past: the one that best told
// kept tokens from refused ones, a token lost counting three times one drafted in vain.
#include <algorithm>
#include <deque>
#include <limits>

#include "redline/plugin.hpp"

namespace {

struct Sample {
  double confidence;  // of the draft's row, before its token was drawn
  bool is_kept;
};

struct Past final : redline::State {
  explicit Past(double start) : threshold(start) {}
  double threshold;
  std::deque<Sample> samples;
};

double share(const std::deque<Sample>& samples, bool is_kept, double threshold) {
  int all = 0, above = 0;
  for (const Sample& s : samples)
    if (s.is_kept == is_kept) ++all, above += s.confidence >= threshold;
  return static_cast<double>(above) / all;
}

class Threshold final : public redline::DraftLength {
 public:
  struct Params {
    int max_depth = 8, max_nodes = 0, window = 256;
    double start = .4;
    void visit(redline::ParameterVisitor& v) {
      v("max_depth", max_depth, {0, 64}, "longest path, in tokens; 0 drafts nothing");
      v("max_nodes", max_nodes, {0, 1024}, "tokens of a draft in all; 0: as many as max_depth");
      v("start", start, {0, 1}, "the threshold until six tokens of both kinds were seen");
      v("window", window, {6, 4096}, "latest tested tokens it learns from");
    }
  };
  explicit Threshold(const Params& p)
      : budget_{p.max_nodes > 0 ? p.max_nodes : p.max_depth, p.max_depth},
        start_(p.start),
        window_(p.window) {}

 private:
  std::unique_ptr<redline::State> do_begin(const redline::Sequence&) override {
    return std::make_unique<Past>(start_);
  }
  void do_choose(std::span<const redline::Turn>, std::span<redline::Budget> budgets) override {
    std::fill(budgets.begin(), budgets.end(), budget_);
  }
  // The first token is always drafted: each step tests one, so the past is never stuck.
  bool do_proceed(redline::Turn turn, int depth, const redline::Row& q_next) const override {
    return depth == 0 || q_next.top(1).front().p >= turn.as<Past>().threshold;
  }
  void do_observe(std::span<const redline::Outcome> batch) override {
    for (const redline::Outcome& o : batch) {
      Past& past = o.turn.as<Past>();
      learn(past.samples, o);
      while (past.samples.size() > window_) past.samples.pop_front();
      past.threshold = best(past);
    }
  }
  // The kept path and the first token refused after it: of those below, nothing is known.
  static void learn(std::deque<Sample>& samples, const redline::Outcome& o) {
    std::vector<redline::Node> path;
    for (redline::Node n = o.verdict.keep; n != redline::kRoot; n = o.draft.parent(n))
      path.insert(path.begin(), n);
    const redline::Node refused = o.draft.first_child(o.verdict.keep);
    if (refused != redline::kNone) path.push_back(refused);
    for (const redline::Node n : path)
      if (const auto& row = o.draft.item(n).row)
        samples.push_back({row->top(1).front().p, n != refused});
  }
  double best(const Past& past) const {
    const auto is_kept = [](const Sample& s) { return s.is_kept; };
    const auto kept = std::count_if(past.samples.begin(), past.samples.end(), is_kept);
    if (past.samples.size() <= 5 || kept == std::ssize(past.samples)) return start_;
    // All were drafted in vain: nothing below the first token.
    if (kept == 0) return std::numeric_limits<double>::infinity();
    double least = 0, least_cost = 5;  // above all: at most 1 + 3
    for (const Sample& s : past.samples) {
      const double cost = share(past.samples, false, s.confidence) +
                          3 * (1 - share(past.samples, true, s.confidence));
      if (cost < least_cost) least = s.confidence, least_cost = cost;
    }
    return least;
  }
  redline::Budget budget_;
  double start_;
  std::size_t window_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Threshold>("length_threshold",
                                         "a confidence stop that learns its threshold"));
