// SPDX-License-Identifier: Apache-2.0
#include "step/draft_model.hpp"

#include <algorithm>
#include <numeric>

#include "step/layout.hpp"

namespace redline::step {

struct DraftModel::Fed {
  std::int32_t parent;
  Token token;
  Chain::Path memory;                    // the root's is Held::memory
  std::optional<redline::Row> row = {};  // the distribution that follows; empty until fed
  std::vector<float> raw = {};           // [V] its logits, when kept
};

struct DraftModel::Held {
  Held(kv::PagePool& pool, const Chain& links) : cache(pool), chain(links) {}
  kv::Cache cache;
  const Chain& chain;
  std::optional<kv::Lease> lease;  // declared after the cache it borrows
  Chain::Path memory;              // after all committed tokens
  std::vector<Token> tokens;       // the committed tokens
  std::vector<Fed> fed;            // [0] is the root; parents precede children; empty between steps
  std::int32_t fill_to = 0;        // committed tokens that the lease was taken for, by reserve_fill

  std::int32_t root() const { return static_cast<std::int32_t>(tokens.size()) - 1; }
  std::int32_t child(std::int32_t parent, Token token) const {  // or -1
    for (auto k = static_cast<std::int32_t>(fed.size()) - 1; k > 0; --k)
      if (fed[k].parent == parent && fed[k].token == token) return k;
    return -1;
  }
  std::int32_t find(std::span<const Token> path) const {  // or -1
    std::int32_t at = fed.empty() ? -1 : 0;
    for (std::size_t k = 0; k < path.size() && at >= 0; ++k) at = child(at, path[k]);
    return at;
  }
  std::vector<std::int32_t> line(std::int32_t k) const {  // slots from below the root to k
    std::vector<std::int32_t> slots;
    for (; k > 0; k = fed[k].parent) slots.push_back(root() + k);
    std::reverse(slots.begin(), slots.end());
    return slots;
  }
};

// A row a forward feeds: a committed token before the root (index -1) or an entry of Held::fed.
struct DraftModel::Due {
  Held* held;
  std::int32_t index, position;
};

DraftModel::DraftModel(model::Forward& forward, kv::PagePool& pool, bool keep_raw)
    : forward_(forward), pool_(pool), keep_raw_(keep_raw) {}
DraftModel::~DraftModel() = default;

void DraftModel::begin(const redline::Sequence& sequence, const Chain& chain) {
  auto& entry = held_[sequence.id];
  entry = std::make_unique<Held>(pool_, chain);
  entry->memory = chain.begin(sequence);
  entry->tokens.assign(sequence.tokens.begin(), sequence.tokens.end());
}

// The sequence's entry, as far as its text has come.
DraftModel::Held& DraftModel::look(const redline::Sequence& sequence) {
  const auto it = held_.find(sequence.id);
  if (it == held_.end())
    throw Error("draft model: sequence " + std::to_string(sequence.id) + " has not begun");
  Held& held = *it->second;
  for (const Token token : sequence.tokens.subspan(held.tokens.size())) {
    held.chain.advance(held.memory, token);
    held.tokens.push_back(token);
  }
  return held;
}

// Likewise, with this step's root.
DraftModel::Held& DraftModel::open(const redline::Sequence& sequence) {
  Held& held = look(sequence);
  if (held.fed.empty()) held.fed.push_back({-1, sequence.tokens.back(), {}});
  return held;
}

std::int32_t DraftModel::place(Held& held, std::span<const Token> path) {
  std::int32_t at = 0;
  for (const Token token : path) {
    std::int32_t next = held.child(at, token);
    if (next < 0) {
      next = static_cast<std::int32_t>(held.fed.size());
      const Chain::Path& above = at == 0 ? held.memory : held.fed[at].memory;
      held.fed.push_back({at, token, held.chain.fork(above, token)});
    }
    at = next;
  }
  return at;
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
  if (held.root() >= context() || held.fill_to <= cached) return true;
  auto lease = kv::Lease::reserve(held.cache, held.fill_to - cached);
  if (lease) held.lease.emplace(std::move(*lease));
  return held.lease.has_value();
}

void DraftModel::fill(std::span<const std::uint64_t> sequence_ids) {
  std::vector<Held*> held;
  for (const std::uint64_t id : sequence_ids)
    if (Held* one = held_.at(id).get(); one->lease) held.push_back(one);
  try {
    fill_together(held);
  } catch (const DeviceError&) {
    throw;
  } catch (const Error&) {
    if (held.size() > 1)
      for (const std::uint64_t id : sequence_ids) fill({&id, 1});
  }
  for (Held* one : held) one->lease.reset();
}

void DraftModel::fill_together(std::span<Held* const> held) {
  std::vector<Due> due;
  for (Held* one : held)
    for (std::int32_t at = one->cache.tokens(); at < one->fill_to; ++at)
      due.push_back({one, -1, at});
  feed_all(due);
  for (Held* one : held) {
    std::vector<std::int32_t> all(one->fill_to - one->cache.tokens());
    std::iota(all.begin(), all.end(), one->cache.tokens());
    one->lease->commit(all);
  }
}

std::vector<Row> DraftModel::do_forward(std::span<const Ask> asks) {
  std::vector<std::pair<Held*, std::int32_t>> asked;
  std::vector<Held*> met;
  for (const Ask& ask : asks) {
    Held& held = open(ask.sequence);
    asked.emplace_back(&held, place(held, ask.draft.path(ask.node)));
    if (std::find(met.begin(), met.end(), &held) == met.end()) met.push_back(&held);
  }
  std::vector<Due> due;
  for (Held* held : met) add_due(*held, due);
  feed_all(due);
  std::vector<Row> rows;
  for (const auto& [held, index] : asked) rows.push_back(*held->fed[index].row);
  return rows;
}

// What no forward has fed yet, parents first.
void DraftModel::add_due(Held& held, std::vector<Due>& due) {
  const std::size_t before = due.size();
  if (!held.fed[0].row)
    for (std::int32_t at = held.cache.tokens(); at < held.root(); ++at)
      due.push_back({&held, -1, at});
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(held.fed.size()); ++k)
    if (!held.fed[k].row)
      due.push_back({&held, k, held.root() + static_cast<std::int32_t>(held.line(k).size())});
  for (std::size_t k = before; k < due.size(); ++k)
    if (due[k].position >= context())
      throw Error("draft model: position " + std::to_string(due[k].position) +
                  " is beyond its context of " + std::to_string(context()) + "; draft less deep");
  if (!lease(held, static_cast<std::int32_t>(held.fed.size()) - 1))
    throw Error("draft model: " + std::to_string(held.fed.size()) + " tentative rows asked, " +
                std::to_string(pool_.available()) + " pages left; draft fewer nodes");
}

void DraftModel::feed_all(std::span<const Due> due) {
  const auto widest = static_cast<std::size_t>(forward_.max_rows());
  for (std::size_t k = 0; k < due.size(); k += widest)
    feed(due.subspan(k, std::min(widest, due.size() - k)));
}

void DraftModel::feed(std::span<const Due> due) {
  batch_.clear();
  for (const Due& d : due) {
    const auto row = static_cast<std::int32_t>(batch_.rows.size());
    if (row == 0 || batch_.segments.back().cache != &d.held->cache)
      batch_.segments.push_back({&d.held->cache, row, row});
    if (d.index < 0)
      add_committed(batch_, d.held->tokens, d.position, d.position + 1);
    else
      add_node(batch_, d.held->fed[d.index].token, d.held->root(), d.held->line(d.index));
    batch_.segments.back().row_end = row + 1;
  }
  const model::Output& output = forward_.forward(batch_);
  for (std::size_t k = 0; k < due.size(); ++k) {
    if (due[k].index < 0) continue;
    Held& held = *due[k].held;
    Fed& fed = held.fed[due[k].index];
    const auto logits = output.logits[k];
    fed.row = held.chain.apply(due[k].index == 0 ? held.memory : fed.memory, logits);
    if (keep_raw_) fed.raw.assign(logits.begin(), logits.end());
  }
}

void DraftModel::commit(std::uint64_t sequence_id, std::span<const Token> path) {
  const auto it = held_.find(sequence_id);
  if (it == held_.end()) return;
  Held& held = *it->second;
  if (held.lease && !held.fed.empty() && held.fed[0].row) {
    std::vector<std::int32_t> kept(held.root() + 1 - held.cache.tokens());
    std::iota(kept.begin(), kept.end(), held.cache.tokens());
    std::int32_t at = 0;
    for (const Token token : path) {
      at = held.child(at, token);
      if (at < 0 || !held.fed[at].row) break;  // drafted, but nobody asked what follows it
      kept.push_back(held.root() + at);
    }
    held.lease->commit(kept);
  }
  roll_back(sequence_id);
}

void DraftModel::roll_back(std::uint64_t sequence_id) {
  const auto it = held_.find(sequence_id);
  if (it == held_.end()) return;
  it->second->lease.reset();
  it->second->fed.clear();
}

void DraftModel::release_pages(std::uint64_t sequence_id) {
  roll_back(sequence_id);
  if (const auto it = held_.find(sequence_id); it != held_.end()) it->second->cache.clear();
}

void DraftModel::forget(std::uint64_t sequence_id) { held_.erase(sequence_id); }

std::span<const float> DraftModel::raw(std::uint64_t sequence_id,
                                       std::span<const Token> path) const {
  const auto it = held_.find(sequence_id);
  const std::int32_t at = it == held_.end() ? -1 : it->second->find(path);
  return at < 0 ? std::span<const float>{} : it->second->fed[at].raw;
}

const kv::Cache* DraftModel::cache(std::uint64_t sequence_id) const {
  const auto it = held_.find(sequence_id);
  return it == held_.end() ? nullptr : &it->second->cache;
}

}  // namespace redline::step
