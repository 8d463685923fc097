// SPDX-License-Identifier: Apache-2.0
// Rows that a drafter asks of its model: what they need is fed first, each row once.
#include <algorithm>
#include <limits>

#include "step/draft_held.hpp"
#include "step/layout.hpp"

namespace redline::step {
namespace {

// [V] of a row: what has no logit has no chance.
void append_row(const model::Output& output, std::span<const float> logits, List<float>& out) {
  if (output.tokens.empty()) {
    out.insert(out.end(), logits.begin(), logits.end());
    return;
  }
  const std::size_t begin = out.size();
  out.resize(begin + output.vocab, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < logits.size(); ++i) out[begin + output.tokens[i]] = logits[i];
}

}  // namespace

List<Row> DraftModel::do_forward(std::span<const Ask> asks) {
  const Watched own_work(watch_, {nullptr, "forward"});
  List<Held*> met;
  for (const Ask& ask : asks) {
    Held& held = open(ask.sequence);
    const bool is_new = std::ranges::find(met, &held) == met.end();
    if (is_new) met.push_back(&held);
    if (feeding_.is_block) lay_block(held, ask.draft, is_new);
  }
  List<std::pair<Held*, std::int32_t>> asked;
  for (const Ask& ask : asks) {
    Held& held = open(ask.sequence);
    asked.emplace_back(&held, place(held, ask.draft.path(ask.node)));
  }
  List<Due> due;
  for (Held* held : met) add_due(*held, due);
  feed_all(std::move(due));
  List<Row> rows;
  for (const auto& [held, index] : asked)
    rows.insert(rows.end(), held->fed[index].rows.begin(), held->fed[index].rows.end());
  return rows;
}

// The root and the nodes of one chain, computed anew.
void DraftModel::lay_block(Held& held, const Draft& draft, bool is_new) {
  if (!is_new && held.block != &draft)
    throw Error("draft model: two blocks of one sequence in one forward; ask for one draft");
  if (!is_new) return;
  if (!draft.is_chain()) throw Error("draft model: a block is a chain, got a tree");
  held.block = &draft;
  held.fed.resize(1);
  held.fed[0].rows.clear(), held.fed[0].raw.clear();
  place(held, draft.path(draft.size()));
}

// In a block nothing is known of what lies between: its rows have the root's memory.
std::int32_t DraftModel::place(Held& held, std::span<const Token> path) {
  if (feeding_.is_root_only && !path.empty())
    throw Error(
        "draft model: a node below the root; what this head needs is known at the root "
        "only");
  std::int32_t at = 0;
  for (const Token token : path) {
    std::int32_t next = held.child(at, token);
    if (next < 0) {
      next = static_cast<std::int32_t>(held.fed.size());
      const Chain::Path& above = at == 0 ? held.memory : held.fed[at].memory;
      held.fed.push_back(
          {at, token, feeding_.is_block ? Chain::Path() : held.chain.fork(above, token)});
    }
    at = next;
  }
  return at;
}

// What no forward has fed yet, parents first.
void DraftModel::add_due(Held& held, List<Due>& due) {
  const std::size_t before = due.size();
  if (held.fed[0].rows.empty())
    for (std::int32_t at = held.cache.tokens(); at < held.root(); ++at)
      due.push_back({&held, -1, at});
  for (std::int32_t k = 0; k < static_cast<std::int32_t>(held.fed.size()); ++k)
    if (held.fed[k].rows.empty())
      due.push_back({&held, k, held.root() + static_cast<std::int32_t>(held.line(k).size())});
  for (std::size_t k = before; k < due.size(); ++k)
    if (due[k].position >= context())
      throw Error("draft model: position " + std::to_string(due[k].position) +
                  " is beyond its context of " + std::to_string(context()) + "; draft less deep");
  if (!lease(held, static_cast<std::int32_t>(held.fed.size()) - 1))
    throw Error("draft model: " + std::to_string(held.fed.size()) + " tentative rows asked, " +
                std::to_string(pool_.obtainable()) + " pages left; draft fewer nodes");
}

void DraftModel::feed_all(List<Due> due) {
  if (!feeding_.is_level_by_level) return feed_together(due);
  std::ranges::stable_sort(due, {}, &Due::depth);
  for (auto begin = due.begin(); begin != due.end();) {
    const auto end =
        std::find_if(begin, due.end(), [&](const Due& d) { return d.depth() != begin->depth(); });
    feed_together({begin, end});
    begin = end;
  }
}

// In as few forwards as take them; a block stays whole.
void DraftModel::feed_together(std::span<const Due> due) {
  const auto widest = static_cast<std::size_t>(forward_.max_rows());
  while (!due.empty()) {
    std::size_t count = std::min(widest, due.size());
    if (feeding_.is_block)
      while (count < due.size() && due[count].index > 0 && count > 0) --count;
    if (count == 0)
      throw Error("draft model: a block of more rows than the " + std::to_string(widest) +
                  " of a forward; draft less deep");
    feed(due.first(count));
    due = due.subspan(count);
  }
}

void DraftModel::feed(std::span<const Due> due) {
  batch_.clear();
  for (const Due& d : due) {
    const auto row = static_cast<std::int32_t>(batch_.rows.size());
    if (row == 0 || batch_.segments.back().cache != &d.held->cache)
      batch_.segments.push_back({&d.held->cache, row, row, d.held->features});
    add_row(d);
    batch_.segments.back().row_end = row + 1;
  }
  take(due, forward_.forward(batch_));
}

void DraftModel::add_row(const Due& due) {
  const Held& held = *due.held;
  if (due.index < 0) return add_committed(batch_, held.tokens, due.position, due.position + 1);
  const Token token = held.fed[due.index].token;
  if (feeding_.is_block)
    add_to_block(batch_, token, held.root(), due.index, static_cast<std::int32_t>(held.fed.size()));
  else
    add_node(batch_, token, held.root(), held.line(due.index));
}

void DraftModel::take(std::span<const Due> due, const model::Output& output) {
  const auto heads = static_cast<std::size_t>(feeding_.heads);
  List<RowWish> wishes;
  List<Fed*> owners;
  for (std::size_t k = 0; k < due.size() * heads; ++k) {
    const auto& [held, index, position] = due[k / heads];
    if (index < 0) {
      held->caught_up += k % heads == 0;
      continue;
    }
    Fed& fed = held->fed[index];
    const Chain::Path& memory = index > 0 && !feeding_.is_block ? fed.memory : held->memory;
    wishes.push_back({held->chain, memory, {output.logits[k], output.tokens, output.vocab}});
    owners.push_back(&fed);
  }
  maker_.make(wishes);
  for (std::size_t k = 0; k < wishes.size(); ++k) {
    if (wishes[k].failure) std::rethrow_exception(wishes[k].failure);
    owners[k]->rows.push_back(*wishes[k].row);
    if (keep_raw_) append_row(output, wishes[k].raw.logits, owners[k]->raw);
  }
}

}  // namespace redline::step
