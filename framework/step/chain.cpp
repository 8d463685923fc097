// SPDX-License-Identifier: Apache-2.0
#include "step/chain.hpp"

#include <algorithm>
#include <limits>

#include "api/rows.hpp"

namespace redline::step {
namespace {

std::unique_ptr<Sampler::Memory> copy(const Sampler& link, const Sampler::Memory& memory) {
  try {
    if (auto twin = memory.clone()) return twin;
  } catch (const std::exception& cause) {
    std::throw_with_nested(PluginError(link.name() + ".clone: " + cause.what()));
  } catch (...) {
    throw PluginError(link.name() + ".clone: threw something that is no exception");
  }
  throw PluginError(link.name() + ".clone: gave no memory; derive from SamplerOf");
}

void check(std::span<const float> logits) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  int wrong = 0, finite = 0;  // sums, not breaks, so that the pass is vectorised
  for (const float x : logits) {
    wrong += x < kInfinity ? 0 : 1;  // NaN too
    finite += x > -kInfinity ? 1 : 0;
  }
  if (wrong > 0 || finite == 0)
    throw BadRow("the model gave " +
                 (wrong > 0 ? std::to_string(wrong) + " times NaN or +inf" : "nothing finite") +
                 " among " + std::to_string(logits.size()) + " logits; check its weights");
}

}  // namespace

Chain::Chain(std::vector<std::unique_ptr<Sampler>> links, const kernels::Ops& ops, Watch* watch)
    : links_(std::move(links)), ops_(ops), watch_(watch) {
  std::stable_sort(links_.begin(), links_.end(),
                   [](const auto& a, const auto& b) { return a->slot() < b->slot(); });
  runs_on_any_thread_ = std::ranges::all_of(links_, [](const auto& link) {
    return dynamic_cast<const AnyThread*>(link.get()) != nullptr;
  });
}

Chain::Path Chain::begin(const redline::Sequence& sequence) const {
  Path path;
  for (const auto& link : links_) {
    const Watched call(watch_, {link.get(), "begin", sequence.id});
    path.push_back(link->begin(sequence));
    for (const Token token : sequence.tokens) link->advance(*path.back(), token);
  }
  return path;
}

void Chain::advance(Path& path, Token token) const {
  for (std::size_t k = 0; k < links_.size(); ++k) {
    const Watched call(watch_, {links_[k].get(), "advance"});
    links_[k]->advance(*path[k], token);
  }
}

Chain::Path Chain::fork(const Path& from, Token token) const {
  Path path;
  for (std::size_t k = 0; k < links_.size(); ++k) path.push_back(copy(*links_[k], *from[k]));
  advance(path, token);
  return path;
}

Row Chain::apply(const Path& path, std::span<const float> logits) const {
  List<float> work(logits.size());
  return apply(path, {logits}, work);
}

Row Chain::apply(const Path& path, const RawRow& raw, std::span<float> work) const {
  Logits row = open(raw, work);
  edit(path, row);
  return close(row);
}

Logits Chain::open(const RawRow& raw, std::span<float> work) {
  check(raw.logits);
  if (raw.tokens.empty()) return {raw.logits, work};
  for (std::size_t i = 0; i < raw.tokens.size(); ++i) work[raw.tokens[i]] = raw.logits[i];
  return {work, {raw.tokens.begin(), raw.tokens.end()}};
}

void Chain::edit(const Path& path, Logits& row) const {
  for (std::size_t k = 0; k < links_.size(); ++k) {
    const Watched call(watch_, {links_[k].get(), "apply"});
    links_[k]->apply(*path[k], row);
  }
}

Row Chain::close(const Logits& row) const {
  if (row.single() || !row.kept().empty()) return row.row();
  const std::span<const float> logits = row.read();
  Weights<float> p(logits.size());
  const kernels::Spread spread = ops_.softmax(logits.data(), std::ssize(logits), p.data());
  return softmax_row(std::move(p), spread.entropy);
}

}  // namespace redline::step
