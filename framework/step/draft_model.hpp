// SPDX-License-Identifier: Apache-2.0
// A drafter's model or learned head: paged, its cache follows the committed tokens. A step's
// tentative rows form a trie of tokens below the root, so nodes of any draft, also a scratch one,
// that share a path share a row; each row is fed once, and the committed tokens the cache lags
// behind go in the same forward.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kv/lease.hpp"
#include "kv/prefix_cache.hpp"
#include "model/forward.hpp"
#include "redline/model.hpp"
#include "step/row_maker.hpp"

namespace redline::step {

class DraftModel final : public redline::Model {
 public:
  // keep_raw: hold the raw logits of a step's rows for the trace. workers: share out the rows.
  DraftModel(model::Forward& forward, kv::PagePool& pool, bool keep_raw,
             device::WorkerPool* workers = nullptr);
  ~DraftModel() override;

  void watched_by(Watch* watch) { watch_ = watch; }  // its forwards are no plugin's time
  void keep_prefixes();  // pages of committed tokens serve later sequences that begin alike
  std::int32_t context() const { return forward_.context(); }
  const kv::PagePool& pages() const { return pool_; }
  // Before anything else of a sequence. chain: its request's own; the links run inside forward, so
  // rows come out transformed. features: the target's table of the sequence, for learned heads.
  void begin(const redline::Sequence& sequence, const Chain& chain,
             const kv::PageTable* features = nullptr);
  // Tentative slots for a draft of so many nodes. False when pages run out: nothing is held then.
  bool reserve(const redline::Sequence& sequence, std::int32_t nodes);
  // Slots for at most so many of the committed tokens that the cache lacks, the root not among
  // them, if the context has room for the root. False when pages run out.
  bool reserve_fill(const redline::Sequence& sequence, std::int32_t tokens);
  // Committed tokens before the root that its cache lacks; 0 also where feeding them has failed.
  std::int32_t behind(const redline::Sequence& sequence);
  // Feeds what reserve_fill() has set aside for these sequences, together. What the model cannot
  // take stays out: that is said and counted when the model is asked to draft.
  void fill(std::span<const std::uint64_t> sequence_ids);
  // After the verdict: rows of the committed tokens and of the kept path stay, all others go. A
  // learned head keeps no drafted row: the path is computed anew from the target's states.
  void commit(std::uint64_t sequence_id, std::span<const Token> path);
  void roll_back(std::uint64_t sequence_id);      // nothing of this step stays
  void release_pages(std::uint64_t sequence_id);  // preempted: the text is fed again
  void forget(std::uint64_t sequence_id);         // the request ended
  // Raw logits of the row after `path`, empty when it was not asked for or is not kept; until
  // commit.
  std::span<const float> raw(std::uint64_t sequence_id, std::span<const Token> path) const;
  const kv::Cache* cache(std::uint64_t sequence_id) const;  // null before the first use
  std::int32_t caught_up(std::uint64_t sequence_id) const;  // committed tokens fed since commit()

 private:
  struct Fed;   // a tentative row: the root or a node of some draft
  struct Held;  // what is held of one sequence
  struct Due;   // a row a forward feeds
  List<redline::Row> do_forward(std::span<const Ask> asks) override;
  Held& look(const redline::Sequence& sequence);
  Held& open(const redline::Sequence& sequence);
  void lay_block(Held& held, const Draft& draft, bool is_new);
  std::int32_t place(Held& held, std::span<const Token> path);
  bool lease(Held& held, std::int32_t nodes);
  void add_due(Held& held, List<Due>& due);
  void feed_all(List<Due> due);
  void feed_together(std::span<const Due> due);
  void feed(std::span<const Due> due);
  void add_row(const Due& due);
  void take(std::span<const Due> due, const model::Output& output);
  void fill_together(std::span<Held* const> held);

  model::Forward& forward_;
  model::Feeding feeding_;
  kv::PagePool& pool_;
  bool keep_raw_;
  RowMaker maker_;
  Watch* watch_ = nullptr;
  std::optional<kv::PrefixCache> prefixes_;              // before what holds pages
  std::map<std::uint64_t, std::unique_ptr<Held>> held_;  // by sequence id
  model::Batch batch_;
};

}  // namespace redline::step
