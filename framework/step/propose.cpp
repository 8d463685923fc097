// SPDX-License-Identifier: Apache-2.0
// The first half of a step: how far to draft, the pages for it, and the drafts.
#include <algorithm>

#include "step/draft_model.hpp"
#include "step/step.hpp"
#include "step/together.hpp"
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

DraftLength& length_of(const Sequence& s) { return s.strategy->length; }
Drafter& drafter_of(const Work& w) { return w.strategy().drafter; }

bool reserve_of_target(Work& w) {
  const std::int32_t rows = w.kind == WorkKind::CHUNK ? w.chunk : w.chunk + 1 + w.budget.max_nodes;
  auto lease = kv::Lease::reserve(*w.sequence.target_kv, rows);
  if (lease) w.lease.emplace(std::move(*lease));
  return w.lease.has_value();
}

// Pages for one sequence, of every model that it needs.
bool reserve(Work& w) {
  if (w.kind != WorkKind::FEED && !reserve_of_target(w)) return false;
  return std::ranges::all_of(w.strategy().models, [&](DraftModel* model) {
    if (w.fills_drafts()) return model->reserve_fill(w.view, w.chunk);
    return w.budget.max_nodes == 0 || model->reserve(w.view, w.budget.max_nodes);
  });
}

void keep_answers(std::span<Work* const> asked, std::span<const Proposal> proposals) {
  for (std::size_t k = 0; k < asked.size(); ++k) {
    asked[k]->answers.clear();
    for (const Proposal::Asked& a : proposals[k].asked())
      asked[k]->answers.push_back(
          {static_cast<std::uint8_t>(proposals[k].draft().depth(a.parent)), a.may_grow});
  }
}

// Takes over what the drafter proposed. Throws what it threw.
void draft(std::span<Work* const> asked, Watch* watch) {
  List<Proposal> proposals;
  proposals.reserve(asked.size());  // drafters and draws hold references
  for (Work* w : asked) {
    const Limit limit{w->budget, w->strategy().length, w->sequence.length_state.get()};
    proposals.emplace_back(Turn{w->view, w->sequence.drafter_state.get()}, limit, *w->draws);
    w->draws->propose_for(proposals.back().draft());
  }
  Drafter& drafter = drafter_of(*asked.front());
  try {
    const Watched call(watch, {&drafter, "propose", asked.front()->view.id});
    drafter.propose(proposals);
  } catch (...) {
    keep_answers(asked, proposals);  // the policy was asked, whatever came of it
    throw;
  }
  keep_answers(asked, proposals);
  for (std::size_t k = 0; k < asked.size(); ++k) {
    Work& w = *asked[k];
    const Draft& made = proposals[k].draft();
    w.draws->close_draft(made);
    w.draft = w.strategy().match == Match::DOWNGRADE ? made.as_deltas() : made;
    w.draft_stop = stop_of(proposals[k]);
  }
}

}  // namespace

void Step::choose(std::span<Sequence* const> sequences) const {
  List<Sequence*> due;
  for (Sequence* s : sequences) {
    begin(*s);
    if (s->budget || !s->fault.empty()) continue;
    if (s->is_first() || !s->strategy->contract.drafts)
      s->budget = Budget{0, 0};
    else
      due.push_back(s);
  }
  for_each_plugin<Sequence, DraftLength>(
      due, length_of,
      [&](DraftLength& policy, std::span<Sequence*> asked) { choose_for(asked, policy); });
}

// Together, or one by one when that fails: a policy's fault makes a plain step of its own sequence.
void Step::choose_for(std::span<Sequence* const> asked, DraftLength& policy) const {
  List<redline::Sequence> views;
  views.reserve(asked.size());  // turns hold references
  List<Turn> turns;
  for (Sequence* s : asked) {
    views.push_back(view(*s));
    turns.push_back({views.back(), s->length_state.get()});
  }
  try {
    const Watched call(watch_, {&policy, "choose", views.front().id});
    const auto budgets = policy.choose(turns);
    for (std::size_t k = 0; k < asked.size(); ++k) {
      asked[k]->chosen = budgets[k];
      asked[k]->budget = cut(budgets[k], *asked[k]);
    }
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception& cause) {
    if (asked.size() > 1) {
      for (Sequence* s : asked) choose_for({&s, 1}, policy);
      return;
    }
    asked.front()->budget = Budget{0, 0};
    asked.front()->refusal = cause.what();
  }
}

// What is left of max_tokens, of each context and of a forward cuts a draft before it is made.
Budget Step::cut(Budget budget, const Sequence& s) const {
  const auto n = static_cast<int>(s.tokens.size());
  int depth = std::min(budget.max_depth, view(s).tokens_left - 1);
  for (const DraftModel* model : s.strategy->models) depth = std::min(depth, model->context() - n);
  int nodes = std::min(budget.max_nodes, target_.max_rows() - 1);
  if (s.strategy->contract.shape == Shape::CHAIN) nodes = std::min(nodes, depth);
  return depth <= 0 || nodes <= 0 ? Budget{0, 0} : Budget{nodes, depth};
}

std::int32_t Step::rows_of(const Sequence& s) {
  return s.missing() + 1 + (s.budget ? s.budget->max_nodes : 0);
}

std::int32_t Step::behind(const Sequence& s) const {
  std::int32_t most = 0;
  if (s.budget && s.budget->max_nodes > 0)
    for (DraftModel* model : s.strategy->models) most = std::max(most, model->behind(view(s)));
  return most;
}

// All or nothing: pages of every model for every sequence.
bool Step::reserve(Works& works, Timings& timings) {
  const Lap lap(timings.kv);
  for (Work& w : works) {
    if (w.failed()) continue;
    if (w.is_whole() && w.sequence.budget) w.budget = *w.sequence.budget;
    if (step::reserve(w)) continue;
    for (Work& other : works) other.roll_back();
    return false;
  }
  return true;
}

void Step::propose(Works& works, Oracle& oracle, Timings& timings) const {
  const Lap lap(timings.draft);
  List<Work*> asked;
  for (Work& w : works) {
    start_draws(w, oracle);
    if (w.kind == WorkKind::DECODE && w.budget.max_nodes > 0 && !w.failed()) asked.push_back(&w);
  }
  for_each_plugin<Work, Drafter>(asked, drafter_of, [&](Drafter&, std::span<Work*> together) {
    propose_together(together, oracle);
  });
}

void Step::start_draws(Work& w, Oracle& oracle) const {
  w.draws.emplace(
      oracle,
      LoggedDraws::Origin{w.sequence.seed, w.sequence.request_key, w.root(), w.sequence.steps},
      recorder_.level() != trace::Level::COUNTS);
}

// When one sequence's draft goes wrong, each is asked alone: the others draw what they would have
// drawn, and it goes on with no draft. Noise put to a forbidden use is the request's error: a plain
// step would hide it.
void Step::propose_together(std::span<Work*> asked, Oracle& oracle) const {
  try {
    draft(asked, watch_);
  } catch (const DeviceError&) {
    throw;
  } catch (const std::exception& cause) {
    if (asked.size() > 1) {
      for (Work*& w : asked) {
        start_draws(*w, oracle);
        propose_together({&w, 1}, oracle);
      }
      return;
    }
    asked.front()->drop_draft(cause.what());
  }
  for (Work* w : asked) contain(*w, [&] { w->draws->hold_to_laws(w->strategy().drafter); });
}

}  // namespace redline::step
