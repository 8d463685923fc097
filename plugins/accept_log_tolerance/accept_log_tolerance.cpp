// SPDX-License-Identifier: Apache-2.0
// Relaxed acceptance by rank and log-probability: a token among the target's best `top`, at most
// `tolerance` nats below the best.
#include "redline/plugin.hpp"
#include "relaxed.hpp"

namespace {

class LogTolerance final : public RelaxedRule {
 public:
  struct Params {
    int top = 1;
    double tolerance = 0;
    std::string next = "argmax";
    void visit(redline::ParameterVisitor& v) {
      v("top", top, {1, 1024}, "how many of the target's best tokens may pass");
      v("tolerance", tolerance, {0, 100}, "nats they may be below the best");
      visit_next(v, next);
    }
  };
  explicit LogTolerance(const Params& p)
      : RelaxedRule(p.next), top_(p.top), tolerance_(p.tolerance) {}

 private:
  Passes good_enough(const redline::Row& p) const override {
    const redline::List<redline::Row::Entry> best = p.top(top_);
    return [best, this](redline::Token x) {
      for (const auto& [token, p_of] : best)
        if (token == x) return std::log(best.front().p) - std::log(p_of) <= tolerance_;
      return false;
    };
  }
  std::size_t top_;
  double tolerance_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<LogTolerance>("accept_log_tolerance",
                                            "the target's best few within nats (lossy), trees"));
