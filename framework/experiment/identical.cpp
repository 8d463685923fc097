// SPDX-License-Identifier: Apache-2.0
#include "experiment/identical.hpp"

#include <algorithm>
#include <map>

namespace redline::experiment {
namespace {

double margin_at(const Finished& f, std::size_t index) {
  return index < f.margins.size() ? f.margins[index] : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Comparison compare_outputs(std::span<const Finished> cell, std::span<const Finished> baseline) {
  std::map<std::uint64_t, const Finished*> plain;
  for (const Finished& f : baseline)
    if (!f.is_warmup && !f.failed()) plain[f.key] = &f;
  Comparison comparison;
  for (const Finished& f : cell) {
    const auto pair = plain.find(f.key);
    if (f.is_warmup || f.failed() || pair == plain.end()) continue;
    const Finished& p = *pair->second;
    ++comparison.compared;
    if (f.tokens == p.tokens) {
      ++comparison.same;
      continue;
    }
    const auto [mine, theirs] = std::ranges::mismatch(f.tokens, p.tokens);
    const auto index = static_cast<std::size_t>(mine - f.tokens.begin());
    comparison.divergences.push_back(
        {f.data_set + "/" + f.id, index, margin_at(f, index), margin_at(p, index)});
  }
  return comparison;
}

}  // namespace redline::experiment
