// SPDX-License-Identifier: Apache-2.0
#include "step/draft_model.hpp"

#include <algorithm>
#include <numeric>

#include "step/draft_held.hpp"

namespace redline::step {

DraftModel::DraftModel(model::Forward& forward, kv::PagePool& pool, bool keep_raw,
                       device::WorkerPool* workers)
    : forward_(forward),
      feeding_(forward.feeding()),
      pool_(pool),
      keep_raw_(keep_raw),
      maker_(workers) {}
DraftModel::~DraftModel() = default;

void DraftModel::keep_prefixes() { prefixes_.emplace(pool_); }

void DraftModel::begin(const redline::Sequence& sequence, const Chain& chain,
                       const kv::PageTable* features) {
  if (feeding_.takes_features && !features)
    throw Error("draft model: it reads the target's states, and there are none");
  auto& entry = held_[sequence.id];
  entry = std::make_unique<Held>(pool_, chain, feeding_.takes_features ? features : nullptr);
  entry->memory = chain.begin(sequence);
  const std::size_t most = sequence.tokens.size() + sequence.tokens_left + 1;
  entry->tokens.reserve(most);
  entry->tokens.assign(sequence.tokens.begin(), sequence.tokens.end());
  entry->cache.expect(static_cast<std::int32_t>(most));
}

// The sequence's entry, as far as its text has come.
DraftModel::Held& DraftModel::look(const redline::Sequence& sequence) {
  const auto it = held_.find(sequence.id);
  if (it == held_.end())
    throw Error("draft model: sequence " + std::to_string(sequence.id) + " has not begun");
  Held& held = *it->second;
  if (sequence.tokens.size() < held.tokens.size())
    throw Error("draft model: asked about " + std::to_string(sequence.tokens.size()) +
                " tokens of sequence " + std::to_string(sequence.id) + ", which has " +
                std::to_string(held.tokens.size()) + "; pass the sequence of the proposal");
  for (const Token token : sequence.tokens.subspan(held.tokens.size())) {
    held.chain.advance(held.memory, token);
    held.tokens.push_back(token);
  }
  if (!prefixes_ || held.lease) return held;
  if (held.cache.tokens() == 0) prefixes_->restore(held.cache, held.tokens);
  prefixes_->publish(held.cache, held.tokens);
  return held;
}

// Likewise, with this step's root.
DraftModel::Held& DraftModel::open(const redline::Sequence& sequence) {
  Held& held = look(sequence);
  if (held.fed.empty()) held.fed.push_back({-1, sequence.tokens.back(), {}});
  return held;
}

// Slots for the root, what the cache lacks before it, and so many nodes.
bool DraftModel::lease(Held& held, std::int32_t nodes) {
  const std::int32_t rows = held.root() + 1 - held.cache.tokens() + nodes;
  if (held.lease)
    return rows <= held.lease->rows() || held.lease->extend(rows - held.lease->rows());
  auto lease = kv::Lease::reserve(held.cache, rows);
  if (lease) held.lease.emplace(std::move(*lease));
  return held.lease.has_value();
}

bool DraftModel::reserve(const redline::Sequence& sequence, std::int32_t nodes) {
  return lease(open(sequence), nodes);
}

bool DraftModel::reserve_fill(const redline::Sequence& sequence, std::int32_t tokens) {
  Held& held = look(sequence);
  const std::int32_t cached = held.cache.tokens();
  held.fill_to = std::min(held.root(), cached + tokens);
  if (held.features)  // a row reads the state before it, or in a model of blocks its own
    held.fill_to = std::min(held.fill_to, held.features->tokens() + (feeding_.is_block ? 0 : 1));
  if (held.root() >= context() || held.fill_to <= cached) return true;
  auto lease = kv::Lease::reserve(held.cache, held.fill_to - cached);
  if (lease) held.lease.emplace(std::move(*lease));
  return held.lease.has_value();
}

std::int32_t DraftModel::behind(const redline::Sequence& sequence) {
  const Held& held = look(sequence);
  if (held.fill_failed || held.root() >= context()) return 0;
  return std::max(0, held.root() - held.cache.tokens());
}

void DraftModel::fill(std::span<const std::uint64_t> sequence_ids) {
  List<Held*> held;
  for (const std::uint64_t id : sequence_ids)
    if (Held* one = held_.at(id).get(); one->lease) held.push_back(one);
  try {
    fill_together(held);
  } catch (const DeviceError&) {
    throw;
  } catch (const Error&) {
    if (held.size() == 1) held.front()->fill_failed = true;
    if (held.size() > 1)
      for (const std::uint64_t id : sequence_ids) fill({&id, 1});
  }
  for (Held* one : held) one->lease.reset();
}

void DraftModel::fill_together(std::span<Held* const> held) {
  List<Due> due;
  for (Held* one : held)
    for (std::int32_t at = one->cache.tokens(); at < one->fill_to; ++at)
      due.push_back({one, -1, at});
  feed_all(std::move(due));
  for (Held* one : held) {
    List<std::int32_t> all(one->fill_to - one->cache.tokens());
    std::iota(all.begin(), all.end(), one->cache.tokens());
    one->lease->commit(all);
  }
}

void DraftModel::commit(std::uint64_t sequence_id, std::span<const Token> path) {
  const auto it = held_.find(sequence_id);
  if (it == held_.end()) return;
  Held& held = *it->second;
  if (held.lease && !held.fed.empty() && !held.fed[0].rows.empty()) {
    const std::int32_t end = held.root() + (feeding_.is_block ? 0 : 1);
    List<std::int32_t> kept(end - held.cache.tokens());
    std::iota(kept.begin(), kept.end(), held.cache.tokens());
    std::int32_t at = 0;
    for (const Token token : feeding_.drops_drafts ? std::span<const Token>() : path) {
      at = held.child(at, token);
      if (at < 0 || held.fed[at].rows.empty()) break;  // nobody asked what follows it
      kept.push_back(held.root() + at);
    }
    held.lease->commit(kept);
  }
  held.caught_up = 0;
  roll_back(sequence_id);
}

void DraftModel::roll_back(std::uint64_t sequence_id) {
  const auto it = held_.find(sequence_id);
  if (it == held_.end()) return;
  it->second->lease.reset();
  it->second->fed.clear();
  it->second->fill_failed = false;
}

void DraftModel::release_pages(std::uint64_t sequence_id) {
  roll_back(sequence_id);
  if (const auto it = held_.find(sequence_id); it != held_.end()) it->second->cache.clear();
}

void DraftModel::forget(std::uint64_t sequence_id) { held_.erase(sequence_id); }

std::span<const float> DraftModel::raw(std::uint64_t sequence_id,
                                       std::span<const Token> path) const {
  const auto it = held_.find(sequence_id);
  if (it == held_.end()) return {};
  const auto& fed = it->second->fed;
  const std::size_t depth = path.size();
  // Of heads that answer at the root and of a block each row is of a depth, whatever the tokens.
  if (feeding_.is_root_only) {
    const std::size_t vocab = static_cast<std::size_t>(forward_.vocab());
    const bool is_there = !fed.empty() && (depth + 1) * vocab <= fed[0].raw.size();
    return is_there ? std::span(fed[0].raw).subspan(depth * vocab, vocab)
                    : std::span<const float>{};
  }
  if (feeding_.is_block) return depth < fed.size() ? fed[depth].raw : std::span<const float>{};
  const std::int32_t at = it->second->find(path);
  return at < 0 ? std::span<const float>{} : fed[at].raw;
}

std::int32_t DraftModel::caught_up(std::uint64_t sequence_id) const {
  const auto it = held_.find(sequence_id);
  return it == held_.end() ? 0 : it->second->caught_up;
}

const kv::Cache* DraftModel::cache(std::uint64_t sequence_id) const {
  const auto it = held_.find(sequence_id);
  return it == held_.end() ? nullptr : &it->second->cache;
}

}  // namespace redline::step
