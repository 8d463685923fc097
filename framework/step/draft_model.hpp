// SPDX-License-Identifier: Apache-2.0
// A drafter's model: paged, its cache follows the committed tokens. A step's tentative rows form a
// trie of tokens below the root, so nodes of any draft, also a scratch one, that share a path share
// a row; each row is fed once, and the committed tokens the cache lags behind go in the same
// forward.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kv/lease.hpp"
#include "model/forward.hpp"
#include "redline/model.hpp"
#include "step/chain.hpp"

namespace redline::step {

class DraftModel final : public redline::Model {
 public:
  // chain: the request's own; its links run inside forward, so rows come out transformed.
  // keep_raw: hold the raw logits of a step's rows for the trace.
  DraftModel(model::Forward& forward, kv::PagePool& pool, const Chain& chain, bool keep_raw);
  ~DraftModel() override;

  std::int32_t context() const { return forward_.context(); }
  // Tentative slots for a draft of so many nodes. False when pages run out: nothing is held then.
  bool reserve(const redline::Sequence& sequence, std::int32_t nodes);
  // Feeds all committed tokens but the root, if the context has room for them. False when pages run
  // out.
  bool prefill(const redline::Sequence& sequence);
  // After the verdict: rows of the committed tokens and of the kept path stay, all others go.
  void commit(std::uint64_t sequence_id, std::span<const Token> path);
  void roll_back(std::uint64_t sequence_id);  // nothing of this step stays
  void forget(std::uint64_t sequence_id);     // the request ended
  // Raw logits of the row after `path`, empty when it was not asked for or is not kept; until
  // commit.
  std::span<const float> raw(std::uint64_t sequence_id, std::span<const Token> path) const;
  const kv::Cache* cache(std::uint64_t sequence_id) const;  // null before the first use

 private:
  struct Fed;   // a tentative row: the root or a node of some draft
  struct Held;  // what is held of one sequence
  struct Due;   // a row a forward feeds
  std::vector<redline::Row> do_forward(std::span<const Ask> asks) override;
  Held& open(const redline::Sequence& sequence);
  std::int32_t place(Held& held, std::span<const Token> path);
  bool lease(Held& held, std::int32_t nodes);
  void add_due(Held& held, std::vector<Due>& due);
  void feed(std::span<const Due> due);

  model::Forward& forward_;
  kv::PagePool& pool_;
  const Chain& chain_;
  bool keep_raw_;
  std::map<std::uint64_t, std::unique_ptr<Held>> held_;  // by sequence id
  model::Batch batch_;
};

}  // namespace redline::step
