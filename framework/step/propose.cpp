// SPDX-License-Identifier: Apache-2.0
// The first half of a step: how far to draft, the pages for it, and the drafts.
#include <algorithm>

#include "step/draft_model.hpp"
#include "step/work.hpp"

namespace redline::step {
namespace {

trace::DraftStop stop_of(const Proposal& proposal) {
  const Draft& draft = proposal.draft();
  const Budget budget = proposal.budget();
  if (draft.size() >= budget.max_nodes || draft.height() >= budget.max_depth)
    return trace::DraftStop::BUDGET;
  Node deepest = kRoot;
  for (Node n = 1; n <= draft.size(); ++n)
    if (draft.depth(n) > draft.depth(deepest)) deepest = n;
  const bool ends = deepest != kRoot && proposal.sequence().stops_at(draft.token(deepest));
  return ends || proposal.has_room(deepest) ? trace::DraftStop::NONE : trace::DraftStop::POLICY;
}

}  // namespace

void Step::choose(Works& works, Timings& timings) {
  const Lap lap(timings.draft);
  std::vector<Turn> turns;
  for (Work& w : works) turns.push_back({w.view, w.sequence.length_state.get()});
  const auto budgets = strategy_.length.choose(turns);
  for (std::size_t k = 0; k < works.size(); ++k) works[k].budget = cut(budgets[k], works[k]);
}

// What is left of max_tokens, of each context and of a forward cuts a draft before it is made.
Budget Step::cut(Budget budget, const Work& w) const {
  const auto n = static_cast<int>(w.view.tokens.size());
  int depth = std::min(budget.max_depth, w.view.tokens_left - 1);
  for (const DraftModel* model : draft_models_) depth = std::min(depth, model->context() - n);
  int nodes = std::min(budget.max_nodes, target_.max_rows() - 1);
  if (strategy_.drafter.contract().shape == Shape::CHAIN) nodes = std::min(nodes, depth);
  return w.is_prefill || depth <= 0 || nodes <= 0 ? Budget{0, 0} : Budget{nodes, depth};
}

// All or nothing: pages of every model for every sequence.
bool Step::reserve(Works& works, Timings& timings) {
  const Lap lap(timings.kv);
  for (Work& w : works) {
    kv::Cache& cache = *w.sequence.target_kv;
    const auto rows = static_cast<std::int32_t>(w.view.tokens.size()) - cache.tokens();
    auto lease = kv::Lease::reserve(cache, rows + w.budget.max_nodes);
    bool have = lease.has_value();
    if (have) w.lease.emplace(std::move(*lease));
    for (DraftModel* model : draft_models_)
      have = have && (w.budget.max_nodes == 0 || model->reserve(w.view, w.budget.max_nodes));
    if (have) continue;
    for (Work& other : works) roll_back(other);
    return false;
  }
  return true;
}

void Step::roll_back(Work& w) {
  w.lease.reset();
  for (DraftModel* model : draft_models_) model->roll_back(w.sequence.request_key);
}

void Step::propose(Works& works, Oracle& oracle, Timings& timings) {
  const Lap lap(timings.draft);
  std::vector<Work*> asked;
  for (Work& w : works) {
    start_draws(w, oracle);
    if (w.budget.max_nodes > 0) asked.push_back(&w);
  }
  if (asked.empty() || try_propose(asked) || asked.size() == 1) return;
  // One sequence's draft went wrong; alone, the others draw what they would have drawn.
  for (Work*& w : asked) {
    start_draws(*w, oracle);
    try_propose({&w, 1});
  }
}

void Step::start_draws(Work& w, Oracle& oracle) const {
  const auto root = static_cast<std::int64_t>(w.view.tokens.size()) - 1;
  w.draws.emplace(
      oracle, LoggedDraws::Origin{w.sequence.seed, w.sequence.request_key, root, w.sequence.steps},
      recorder_.level() != trace::Level::COUNTS);
}

// False when the drafter threw; a single sequence then goes on with no draft.
bool Step::try_propose(std::span<Work* const> asked) {
  std::vector<Proposal> proposals;
  proposals.reserve(asked.size());  // drafters and draws hold references
  for (Work* w : asked) {
    const Limit limit{w->budget, strategy_.length, w->sequence.length_state.get()};
    proposals.emplace_back(Turn{w->view, w->sequence.drafter_state.get()}, limit, *w->draws);
    w->draws->propose_for(proposals.back().draft());
  }
  try {
    strategy_.drafter.propose(proposals);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      Work& w = *asked[k];
      w.draws->close_draft(proposals[k].draft());
      w.draft =
          match_ == Match::DOWNGRADE ? proposals[k].draft().as_deltas() : proposals[k].draft();
      w.draft_stop = stop_of(proposals[k]);
    }
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception& cause) {
    for (Work* w : asked) w->hold_to_laws(strategy_.drafter);
    if (asked.size() == 1) drop_draft(*asked.front(), cause.what());
    return false;
  }
  for (Work* w : asked) w->hold_to_laws(strategy_.drafter);
  return true;
}

void Step::drop_draft(Work& w, std::string why) {
  w.draft = Draft(w.view.vocab);
  w.draft_stop = trace::DraftStop::NONE;
  w.progress.bad_draft = std::move(why);
  for (DraftModel* model : draft_models_) model->roll_back(w.sequence.request_key);
}

}  // namespace redline::step
