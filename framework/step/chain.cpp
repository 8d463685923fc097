// SPDX-License-Identifier: Apache-2.0
#include "step/chain.hpp"

#include <algorithm>
#include <limits>

namespace redline::step {

Chain::Chain(std::vector<std::unique_ptr<Sampler>> links) : links_(std::move(links)) {
  std::stable_sort(links_.begin(), links_.end(),
                   [](const auto& a, const auto& b) { return a->slot() < b->slot(); });
}

Chain::Path Chain::begin(const redline::Sequence& sequence) const {
  Path path;
  for (const auto& link : links_) path.push_back(link->begin(sequence));
  for (const Token token : sequence.tokens) advance(path, token);
  return path;
}

void Chain::advance(Path& path, Token token) const {
  for (std::size_t k = 0; k < links_.size(); ++k) links_[k]->advance(*path[k], token);
}

Chain::Path Chain::fork(const Path& from, Token token) const {
  Path path;
  for (const auto& memory : from) path.push_back(memory->clone());
  advance(path, token);
  return path;
}

Row Chain::apply(const Path& path, std::span<const float> logits) const {
  bool sound = true;  // false for NaN as for +inf; no branch, so that the pass is vectorised
  bool some = false;
  for (const float x : logits) {
    sound &= x < std::numeric_limits<float>::infinity();
    some |= x > -std::numeric_limits<float>::infinity();
  }
  if (!sound || !some)
    throw BadRow(std::string("the model gave ") + (some ? "NaN or +inf" : "nothing finite") +
                 " among " + std::to_string(logits.size()) + " logits; check its weights");
  work_.assign(logits.begin(), logits.end());
  Logits row{std::span(work_)};
  for (std::size_t k = 0; k < links_.size(); ++k) links_[k]->apply(*path[k], row);
  return row.row();
}

}  // namespace redline::step
