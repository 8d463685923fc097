// SPDX-License-Identifier: Apache-2.0
// An odometer over decisions: replay all but the last, which moves on. No exception crosses a
// plugin and runs are as many as there are outcomes.
#include "step/draws.hpp"

namespace redline::step {

bool Scripted::next() {
  for (; !script_.empty(); script_.pop_back()) {
    auto& [weights, outcome] = script_.back();
    for (int o = outcome + 1; o < static_cast<int>(weights.size()); ++o)
      if (weights[o] > 0) return outcome = o, true;
  }
  return false;
}

double Scripted::weight() const {
  double weight = 1;
  for (const auto& d : script_) weight *= d.weights[d.outcome];
  return weight;
}

int Scripted::decide(std::vector<double> weights) {
  if (cursor_ == script_.size()) {
    int first = 0;
    while (weights[first] <= 0) ++first;
    script_.push_back({std::move(weights), first});
  }
  return script_[cursor_++].outcome;
}

Token Scripted::pick(const Key&, const Row& row) {
  std::vector<double> weights(row.vocab());
  for (Token t = 0; t < row.vocab(); ++t) weights[t] = row.at(t);
  return decide(std::move(weights));
}

}  // namespace redline::step
