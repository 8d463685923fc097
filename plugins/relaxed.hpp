// SPDX-License-Identifier: Apache-2.0
// Rules that keep every drafted token the target's row calls good enough: the longest path of such
// tokens, the likeliest of equals, and after it a token of the target. Lossy, whatever the draft.
#pragma once
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "redline/acceptance_rule.hpp"
#include "redline/emission.hpp"
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
    const redline::Node keep = longest(draft, redline::kRoot, p);
    return {keep, samples_ ? draws.sample(keep, p[keep]) : p[keep].argmax()};
  }
  // Siblings are told of when all tokens below are given: which one is kept hangs on them.
  double do_tv(const redline::Draft& draft, redline::Node u,
               std::span<const redline::Row> p) const override {
    const redline::Node only = draft.first_child(u);
    redline::Emission out(p[u].vocab());
    if (only != redline::kNone && draft.next_sibling(only) == redline::kNone) {
      Passes passes = good_enough(p[u]);
      out.keep(draft.q(only), [&](redline::Token x, double) { return passes(x) ? 1.0 : 0.0; });
    } else {
      for (redline::Node n = u + 1; n <= draft.size(); ++n)
        if (draft.item(n).law == redline::Law::ROW) return std::numeric_limits<double>::quiet_NaN();
      redline::Node kept = longest(draft, u, p);
      while (kept != u && draft.parent(kept) != u) kept = draft.parent(kept);
      if (kept != u) out.keep(draft.token(kept), 1);
    }
    out.end(samples_ ? p[u] : redline::Row::point(p[u].vocab(), p[u].argmax()));
    return out.tv(p[u]);
  }
  redline::Node longest(const redline::Draft& draft, redline::Node from,
                        std::span<const redline::Row> p) const {
    std::vector<bool> is_good(p.size(), false);
    std::vector<double> log_p(p.size(), 0.0);  // of the path
    is_good[from] = true;
    redline::Node best = from;
    for (redline::Node u = from; u <= draft.size(); ++u) {  // parents come first
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
