// SPDX-License-Identifier: Apache-2.0
// Rules that keep every drafted token the target's row calls good enough: the longest path of such
// tokens, the likeliest of equals, and after it a token of the target. Lossy, whatever the draft.
#pragma once
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "redline/acceptance_rule.hpp"
#include "redline/parameters.hpp"

namespace {

class RelaxedRule : public redline::AcceptanceRule {
 public:
  using Passes = std::function<bool(redline::Token)>;
  static void visit_next(redline::ParameterVisitor& v, std::string& next) {
    v("next", next, {"argmax", "sample"}, "the token after the path: the best, or drawn from p");
  }
  explicit RelaxedRule(const std::string& next) : samples_(next == "sample") {}

 private:
  virtual Passes good_enough(const redline::Row& p) const = 0;

  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::APPROXIMATE, .reads = {}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    const redline::Node keep = longest(draft, p);
    return {keep, samples_ ? draws.sample(keep, p[keep]) : p[keep].argmax()};
  }
  redline::Node longest(const redline::Draft& draft, std::span<const redline::Row> p) const {
    std::vector<bool> is_good(p.size(), false);
    std::vector<double> log_p(p.size(), 0.0);  // of the path
    is_good[redline::kRoot] = true;
    redline::Node best = redline::kRoot;
    for (redline::Node u = redline::kRoot; u <= draft.size(); ++u) {  // parents come first
      if (!is_good[u] || draft.first_child(u) == redline::kNone) continue;
      Passes passes = good_enough(p[u]);
      for (auto c = draft.first_child(u); c != redline::kNone; c = draft.next_sibling(c)) {
        is_good[c] = passes(draft.token(c));
        if (!is_good[c]) continue;
        log_p[c] = log_p[u] + std::log(p[u].at(draft.token(c)));
        const int deeper = draft.depth(c) - draft.depth(best);
        if (deeper > 0 || (deeper == 0 && log_p[c] > log_p[best])) best = c;
      }
    }
    return best;
  }
  bool samples_;
};

}  // namespace
