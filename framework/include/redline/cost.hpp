// SPDX-License-Identifier: Apache-2.0
// What forwards cost on the machine at hand: measured once, stored, and read alike by every run, so
// that a policy may weigh costs and its run still repeats bit for bit.
#pragma once
#include <vector>

#include "redline/types.hpp"

namespace redline {
inline namespace v1 {

struct REDLINE_API CostCurve {  // of one model
  struct Point {
    std::int32_t context, rows;  // committed tokens, new rows behind them
    double ns;                   // median of a forward
  };
  std::vector<Point> points = {};  // by context, then by rows

  bool empty() const { return points.empty(); }
  // Straight lines between the points; the first line before them, the last slope beyond. 0 when
  // nothing was measured.
  double ns(std::int32_t rows, std::int32_t context) const;
};

struct Costs {
  CostCurve target;
  CostCurve draft;  // of the drafter's model; empty when it opens none: it drafts for nothing
  // One pass of the target over the root and `nodes`, one of the draft a level.
  double step_ns(std::int32_t nodes, std::int32_t depth, std::int32_t context) const {
    return target.ns(1 + nodes, context) + depth * draft.ns(1, context);
  }
  // What the first pass of the draft takes longer for committed tokens that it was never fed.
  double catch_up_ns(std::int32_t tokens, std::int32_t context) const {
    return tokens > 0 ? draft.ns(1 + tokens, context) - draft.ns(1, context) : 0;
  }
};

}  // namespace v1
}  // namespace redline
