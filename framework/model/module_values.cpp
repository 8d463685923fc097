// SPDX-License-Identifier: Apache-2.0
#include "model/module_values.hpp"

#include <algorithm>
#include <numeric>

namespace redline::model {
namespace {

struct Places {
  std::vector<std::size_t> of_op;    // [ops]
  std::vector<std::int64_t> widths;  // [buffers] of the widest value each holds
};

// Each value gets a buffer that no living value has: first the widest that is free.
Places share(const ModulePlan& plan) {
  std::vector<std::size_t> last_use(plan.nodes.size());
  for (std::size_t op = 0; op < plan.nodes.size(); ++op) {
    last_use[op] = op;
    for (const std::int32_t input : plan.nodes[op].inputs) last_use[input] = op;
  }
  Places places;
  std::vector<std::size_t> free_after;  // [buffers] the last op that needs what is in it
  for (std::size_t op = 0; op < plan.nodes.size(); ++op) {
    std::size_t best = free_after.size();
    for (std::size_t k = 0; k < free_after.size(); ++k)
      if (free_after[k] < op &&
          (best == free_after.size() || places.widths[k] > places.widths[best]))
        best = k;
    if (best == free_after.size()) free_after.push_back(0), places.widths.push_back(0);
    free_after[best] = last_use[op];
    places.widths[best] = std::max(places.widths[best], plan.widths[op]);
    places.of_op.push_back(best);
  }
  return places;
}

}  // namespace

ModuleValues::ModuleValues(const ModulePlan& plan, std::int64_t rows) {
  const Places places = share(plan);
  for (const std::int64_t width : places.widths)
    buffers_.push_back(std::make_unique_for_overwrite<float[]>(rows * width));
  places_ = places.of_op;
}

std::int64_t ModuleValues::bytes(const ModulePlan& plan, std::int64_t rows) {
  const Places places = share(plan);
  return std::accumulate(places.widths.begin(), places.widths.end(), std::int64_t{0}) * rows * 4;
}

}  // namespace redline::model
