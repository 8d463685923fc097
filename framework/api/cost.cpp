// SPDX-License-Identifier: Apache-2.0
#include "redline/cost.hpp"

#include <algorithm>
#include <span>

namespace redline {
inline namespace v1 {
namespace {

struct Knot {
  double at, value;
};

double along(std::span<const Knot> knots, double at) {
  if (knots.empty()) return 0;
  if (knots.size() == 1 || at <= knots.front().at) return knots.front().value;
  std::size_t end = 1;
  while (end + 1 < knots.size() && knots[end].at < at) ++end;
  const Knot &a = knots[end - 1], &b = knots[end];
  return a.value + (b.value - a.value) * (at - a.at) / (b.at - a.at);
}

}  // namespace

double CostCurve::ns(std::int32_t rows, std::int32_t context) const {
  std::vector<Knot> contexts, line;
  for (std::size_t k = 0; k < points.size(); ++k) {
    line.push_back({static_cast<double>(points[k].rows), points[k].ns});
    if (k + 1 < points.size() && points[k + 1].context == points[k].context) continue;
    contexts.push_back({static_cast<double>(points[k].context), along(line, rows)});
    line.clear();
  }
  return std::max(0.0, along(contexts, context));
}

}  // namespace v1
}  // namespace redline
