// SPDX-License-Identifier: Apache-2.0
#include "step/step.hpp"

#include <cmath>
#include <numeric>

#include "step/draft_model.hpp"
#include "step/layout.hpp"
#include "step/record.hpp"

namespace redline::step {

Step::Step(model::Forward& target, Strategy strategy, std::vector<DraftModel*> draft_models,
           trace::Level level, std::int32_t topk, const kernels::Ops& ops)
    : target_(target),
      strategy_(strategy),
      draft_models_(std::move(draft_models)),
      recorder_(level, topk, ops),
      match_(match(strategy.drafter, strategy.rule)) {}

std::optional<std::vector<Progress>> Step::run(std::span<Sequence* const> sequences, Oracle& oracle,
                                               Timings& timings) {
  const Lap lap(timings.total);
  Works works;
  for (Sequence* s : sequences) {
    begin(*s);
    if (!feed_target(*s, timings)) return std::nullopt;
    works.emplace_back(*s, view(*s), is_first(*s));
  }
  choose(works, timings);
  if (!reserve(works, timings)) return std::nullopt;
  propose(works, oracle, timings);
  for (std::size_t done = 0; done < works.size();) {
    const std::size_t end = lay_out_whole(works, done);
    const model::Output& rows = forward(timings);
    for (; done < end; ++done) verify(works[done], rows, timings);
  }
  observe(works);
  std::vector<Progress> progress;
  for (Work& w : works) progress.push_back(std::move(w.progress));
  return progress;
}

// Sequences from `first` on that fit one forward, each with all its rows; the end of them.
std::size_t Step::lay_out_whole(Works& works, std::size_t first) {
  batch_.clear();
  std::size_t end = first;
  for (; end < works.size(); ++end) {
    Work& w = works[end];
    const kv::Cache& cache = *w.sequence.target_kv;
    const auto rows = w.view.tokens.size() - cache.tokens() + w.draft.size();
    const auto width = static_cast<std::size_t>(target_.max_rows());
    if (end > first && batch_.rows.size() + rows > width) break;
    w.root_row = lay_out(batch_, *w.sequence.target_kv, w.view.tokens, w.draft);
  }
  return end;
}

const model::Output& Step::forward(Timings& timings) {
  const Lap lap(timings.target);
  timings.rows += static_cast<std::uint32_t>(batch_.rows.size());
  return target_.forward(batch_);
}

void Step::verify(Work& w, const model::Output& rows, Timings& timings) {
  const auto target = [&](Node u) { return rows.logits[w.root_row + u]; };
  try {
    const Lap lap(timings.sample);
    apply(w, target);
  } catch (const BadRow& bad) {
    w.progress.error = bad.what();
  }
  if (!w.failed()) {
    const Lap lap(timings.verify);
    judge(w);
  }
  const auto draft = [&](Node u) {
    for (const DraftModel* model : draft_models_)
      if (const auto raw = model->raw(w.sequence.request_key, w.draft.path(u)); !raw.empty())
        return raw;
    return std::span<const float>{};
  };
  w.progress.drafted = static_cast<std::uint16_t>(w.draft.height());
  w.progress.record = record(w, strategy_.rule, target, draft, recorder_);
  {
    const Lap lap(timings.kv);
    commit(w);
  }
  ++w.sequence.steps;
  if (!w.failed()) move_on(w, target);
}

// p at the root and at every node, each after what the links know of its own path.
void Step::apply(Work& w, const RowAt& target) {
  const Chain& chain = strategy_.chain;
  w.memory.push_back(std::move(w.sequence.memory));
  for (Node u = 1; u <= w.draft.size(); ++u)
    w.memory.push_back(chain.fork(w.memory[w.draft.parent(u)], w.draft.token(u)));
  for (Node u = kRoot; u <= w.draft.size(); ++u) w.p.push_back(chain.apply(w.memory[u], target(u)));
}

void Step::judge(Work& w) {
  w.draws->judge(w.draft, w.p);
  try {
    w.verdict = strategy_.rule.judge(w.draft, w.p, *w.draws);
  } catch (const std::exception&) {
    w.hold_to_laws(strategy_.rule);
    throw;
  }
  w.hold_to_laws(strategy_.rule);
}

// The rows of the kept path stay in every cache, all others go.
void Step::commit(Work& w) {
  if (w.failed()) return roll_back(w);
  const auto root = static_cast<std::int32_t>(w.view.tokens.size()) - 1;
  std::vector<std::int32_t> kept(root + 1 - w.lease->first_slot());
  std::iota(kept.begin(), kept.end(), w.lease->first_slot());
  for (const Node u : w.line(w.verdict.keep)) kept.push_back(root + u);
  w.lease->commit(kept);
  w.lease.reset();
  const auto path = w.draft.path(w.verdict.keep);
  for (DraftModel* model : draft_models_) model->commit(w.sequence.request_key, path);
}

// The sequence takes in what was committed, and the progress says so.
void Step::move_on(Work& w, const RowAt& target) {
  Progress& done = w.progress;
  done.committed = w.draft.path(w.verdict.keep);
  done.accepted_by_rule = static_cast<std::uint16_t>(done.committed.size());
  done.committed.push_back(w.verdict.next);
  auto passed = w.line(w.verdict.keep);
  passed.insert(passed.begin(), kRoot);
  for (std::size_t k = 0; k < passed.size(); ++k) {
    const Token token = done.committed[k];
    done.logprobs.push_back(static_cast<float>(std::log(w.p[passed[k]].at(token))));
    done.margins.push_back(margin(target(passed[k]), token));
  }
  Sequence& s = w.sequence;
  s.tokens.insert(s.tokens.end(), done.committed.begin(), done.committed.end());
  s.tokens_left -= static_cast<std::int32_t>(done.committed.size());
  s.memory = std::move(w.memory[w.verdict.keep]);
  strategy_.chain.advance(s.memory, w.verdict.next);
  w.view = view(s);
}

void Step::observe(Works& works) {
  const bool wants_p = strategy_.drafter.contract().needs.target_rows;
  std::vector<Outcome> for_drafter, for_length;
  for (const Work& w : works) {
    if (w.failed()) continue;
    const std::span<const Row> p = wants_p ? std::span<const Row>(w.p) : std::span<const Row>{};
    const Sequence& s = w.sequence;
    for_drafter.push_back({{w.view, s.drafter_state.get()}, w.draft, w.verdict, p, {}});
    for_length.push_back({{w.view, s.length_state.get()}, w.draft, w.verdict, {}, {}});
  }
  strategy_.drafter.observe(for_drafter);
  strategy_.length.observe(for_length);
}

}  // namespace redline::step
