// SPDX-License-Identifier: Apache-2.0
#include "step/step.hpp"

#include <cmath>
#include <limits>

#include "step/draft_model.hpp"
#include "step/layout.hpp"
#include "step/record.hpp"
#include "step/together.hpp"
#include "step/work.hpp"

namespace redline::step {
namespace {

// What the links know at the root and at every node, each of its own path.
void fork(Work& w) {
  w.memory.push_back(std::move(w.sequence.memory));
  for (Node u = 1; u <= w.draft.size(); ++u)
    w.memory.push_back(w.strategy().chain.fork(w.memory[w.draft.parent(u)], w.draft.token(u)));
}

// How far an approximate rule is from p after each node that has children.
void measure(Work& w, Watch* watch) {
  const AcceptanceRule& rule = w.strategy().rule;
  if (rule.contract().claim != Claim::APPROXIMATE) return;
  if (w.strategy().contract.anticipates) return;  // its rows are not the laws of its tokens
  const Watched call(watch, {&rule, "tv", w.view.id});
  for (Node u = kRoot; u <= w.draft.size(); ++u)
    w.tv.push_back(w.draft.first_child(u) == kNone ? std::numeric_limits<float>::quiet_NaN()
                                                   : static_cast<float>(rule.tv(w.draft, u, w.p)));
}

void judge(Work& w, Watch* watch) {
  const AcceptanceRule& rule = w.strategy().rule;
  w.draws->judge(w.draft, w.p);
  {
    const Watched call(watch, {&rule, "judge", w.view.id});
    w.verdict = rule.judge(w.draft, w.p, *w.draws);
  }
  w.draws->hold_to_laws(rule);
}

// How many tokens the rule keeps of this draft in expectation: of every trace and report.
void foretell(Work& w, Watch* watch) {
  const AcceptanceRule& rule = w.strategy().rule;
  const Watched call(watch, {&rule, "expected_accepted", w.view.id});
  w.expected_accepted = static_cast<float>(rule.expected_accepted(w.draft, w.p));
}

// The rows of the kept path stay in every cache, all others go.
void commit(Work& w) {
  if (w.failed()) return w.roll_back();
  if (w.kind == WorkKind::FEED) return;
  w.lease->commit(w.kept());
  w.lease.reset();
  if (w.kind == WorkKind::CHUNK) return;
  const auto path = w.draft.path(w.verdict.keep);
  for (DraftModel* model : w.strategy().models) model->commit(w.sequence.request_key, path);
}

// The caches of draft models follow a text, chunk by chunk, in the forwards of all together.
void fill_drafts(auto& works, Timings& timings) {
  const Lap lap(timings.draft);
  std::map<DraftModel*, List<std::uint64_t>> behind;
  for (const Work& w : works)
    if (w.fills_drafts() && !w.failed())
      for (DraftModel* model : w.strategy().models) behind[model].push_back(w.sequence.request_key);
  for (const auto& [model, sequences] : behind) model->fill(sequences);
}

// What plugins are told of the step. One that throws is the error of this sequence.
template <class P>
void tell(Work& w, P& plugin, State* state, std::span<const Row> p, Watch* watch) {
  const Outcome outcome{{w.view, state}, w.draft, w.verdict, p, {}};
  const Watched call(watch, {&plugin, "observe", w.view.id});
  plugin.observe({&outcome, 1});
}

void observe(Work& w, Watch* watch) {
  if (w.failed() || !w.is_whole()) return;
  contain(w, [&] {
    const bool wants_p = w.strategy().contract.needs.target_rows;
    const std::span<const Row> p = wants_p ? std::span<const Row>(w.p) : std::span<const Row>{};
    tell(w, w.strategy().drafter, w.sequence.drafter_state.get(), p, watch);
    tell(w, w.strategy().length, w.sequence.length_state.get(), {}, watch);
  });
}

std::vector<Alternative> best_of(const Row& p, std::int32_t count) {
  std::vector<Alternative> best;
  for (const auto& [token, mass] : p.top(count))
    best.push_back({token, static_cast<float>(std::log(mass))});
  return best;
}

}  // namespace

Step::Step(model::Forward& target, const Recorded& recorded, const kernels::Ops& ops, Watch* watch,
           device::WorkerPool* pool)
    : target_(target), maker_(pool), recorder_(recorded, ops, pool), watch_(watch) {}

std::optional<List<Progress>> Step::run(std::span<const Part> parts, Oracle& oracle,
                                        Timings& timings) {
  const Lap lap(timings.total);
  {
    const Lap drafting(timings.draft);
    List<Sequence*> whole;
    for (const Part& part : parts)
      if (part.chunk == 0 && part.feed == 0)
        whole.push_back(part.sequence);
      else
        begin(*part.sequence);
    choose(whole);
  }
  Works works;
  for (const Part& part : parts) works.emplace_back(part, view(*part.sequence));
  if (!reserve(works, timings)) return std::nullopt;
  fill_drafts(works, timings);
  propose(works, oracle, timings);
  for (std::size_t done = 0; done < works.size();) {
    const std::size_t end = lay_out_whole(works, done);
    const model::Output& rows = forward(timings);
    List<Work*> whole;
    for (std::size_t k = done; k < end; ++k) {
      works[k].output = &rows;
      if (works[k].is_whole()) whole.push_back(&works[k]);
    }
    verify(whole, timings);
    for (; done < end; ++done) conclude(works[done], timings);
  }
  List<Progress> progress;
  for (Work& w : works) {
    observe(w, watch_);
    progress.push_back(std::move(w.progress));
  }
  return progress;
}

// Sequences from `first` on that fit one forward, each with all its rows; the end of them.
std::size_t Step::lay_out_whole(Works& works, std::size_t first) {
  batch_.clear();
  std::size_t end = first;
  for (; end < works.size(); ++end) {
    Work& w = works[end];
    if (w.failed() || w.kind == WorkKind::FEED) continue;
    const auto rows = static_cast<std::int32_t>(batch_.rows.size());
    if (rows > 0 && rows + w.rows() > target_.max_rows()) break;
    if (w.kind == WorkKind::CHUNK)
      lay_out_chunk(batch_, *w.sequence.target_kv, w.view.tokens, w.chunk);
    else
      w.root_row = lay_out(batch_, *w.sequence.target_kv, w.view.tokens, w.draft);
  }
  return end;
}

const model::Output& Step::forward(Timings& timings) {
  static const model::Output kNothing;
  if (batch_.rows.empty()) return kNothing;  // every sequence of it has failed
  const Lap lap(timings.target);
  timings.rows += static_cast<std::uint32_t>(batch_.rows.size());
  return target_.forward(batch_);
}

// From the rows of a forward to verdicts, and what the trace keeps of both.
void Step::verify(std::span<Work* const> works, Timings& timings) {
  {
    const Lap lap(timings.sample);
    sample(works);
  }
  for (Work* w : works) {
    {
      const Lap lap(timings.verify);
      if (!w->failed()) contain(*w, [&] { judge(*w, watch_); });
    }
    const Lap lap(timings.log);
    if (!w->failed()) contain(*w, [&] { foretell(*w, watch_); });
  }
  const Lap lap(timings.log);
  for (Work* w : works)
    if (!w->failed() && recorder_.level() != trace::Level::COUNTS)
      contain(*w, [&] { measure(*w, watch_); });
  record(works, recorder_);
}

// p at the root and at every node.
void Step::sample(std::span<Work* const> works) {
  List<RowWish> wishes;
  for (Work* w : works) {
    if (!w->failed()) contain(*w, [&] { fork(*w); });
    if (w->failed()) continue;
    for (Node u = kRoot; u <= w->draft.size(); ++u)
      wishes.push_back({w->strategy().chain, w->memory[u], {w->target_row(u)}});
  }
  maker_.make(wishes);
  auto wish = wishes.begin();
  for (Work* w : works) {
    if (w->failed()) continue;
    const auto end = wish + w->draft.size() + 1;
    contain(*w, [&] {
      for (auto mine = wish; mine != end; ++mine) {
        if (mine->failure) std::rethrow_exception(mine->failure);
        w->p.push_back(std::move(*mine->row));
      }
    });
    wish = end;
  }
}

// The caches and the sequence take in the verdict.
void Step::conclude(Work& w, Timings& timings) const {
  {
    const Lap lap(timings.kv);
    commit(w);
  }
  if (!w.is_whole()) return;
  w.progress.drafted = static_cast<std::uint16_t>(w.draft.height());
  ++w.sequence.steps;
  w.sequence.budget.reset();
  w.sequence.chosen.reset();
  w.sequence.refusal.clear();
  if (!w.failed()) move_on(w);
}

// The sequence takes in what was committed, and the progress says so.
void Step::move_on(Work& w) const {
  Sequence& s = w.sequence;
  Progress& done = w.progress;
  done.committed = w.draft.path(w.verdict.keep);
  done.accepted_by_rule = static_cast<std::uint16_t>(done.committed.size());
  done.committed.push_back(w.verdict.next);
  const List<Node> passed = w.passed();
  for (std::size_t k = 0; k < passed.size(); ++k) {
    const Token token = done.committed[k];
    const Row& p = w.p[passed[k]];
    done.logprobs.push_back(static_cast<float>(std::log(p.at(token))));
    if (s.top_logprobs > 0) done.top.push_back(best_of(p, s.top_logprobs));
  }
  s.tokens.insert(s.tokens.end(), done.committed.begin(), done.committed.end());
  s.tokens_left -= static_cast<std::int32_t>(done.committed.size());
  s.memory = std::move(w.memory[w.verdict.keep]);
  contain(w, [&] { w.strategy().chain.advance(s.memory, w.verdict.next); });
  w.view = view(s);
}

}  // namespace redline::step
