// SPDX-License-Identifier: Apache-2.0
#include "step/record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "step/draft_model.hpp"
#include "step/optimal.hpp"

namespace redline::step {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint16_t kNoDraftRank = std::numeric_limits<std::uint16_t>::max();
constexpr std::uint8_t kBernoulli = 0;

float log_of(double p) { return static_cast<float>(std::log(p)); }

Token emitted_after(const Work& w, Node u) {  // kNone off the kept path
  if (w.failed()) return kNone;
  if (u == w.verdict.keep) return w.verdict.next;
  for (Node at = w.verdict.keep; at != kRoot; at = w.draft.parent(at))
    if (w.draft.parent(at) == u) return w.draft.token(at);
  return kNone;
}

bool on_kept_path(const Work& w, Node u) {
  return !w.failed() && (u == w.verdict.keep || emitted_after(w, u) != kNone);
}

std::span<const trace::DecisionRecord> judging(const Work& w) {
  return std::span(w.draws->log()).subspan(w.draws->judged_from());
}

bool has_tests(const Work& w) {
  const auto log = judging(w);
  return std::any_of(log.begin(), log.end(), [](const auto& d) { return d.kind == kBernoulli; });
}

const trace::DecisionRecord* test_of(const Work& w, Node n) {
  for (const auto& d : judging(w))
    if (d.kind == kBernoulli && d.node == n) return &d;
  return nullptr;
}

// A rule that tests nodes one by one says which it reached; one that draws the target's token has
// tested every child of the nodes it passed.
trace::NodeState state_of(const Work& w, Node n, bool tests, bool is_tested) {
  if (w.failed()) return trace::NodeState::NOT_REACHED;
  if (on_kept_path(w, n)) return trace::NodeState::ACCEPTED;
  const bool reached = tests ? is_tested : on_kept_path(w, w.draft.parent(n));
  return reached ? trace::NodeState::REJECTED : trace::NodeState::NOT_REACHED;
}

trace::LastKind last_kind(const Work& w) {
  if (w.failed()) return trace::LastKind::NONE;
  const bool is_leaf = w.draft.first_child(w.verdict.keep) == kNone;
  if (is_leaf && w.draft.size() > 0) return trace::LastKind::BONUS;
  return is_leaf || w.draws->last_by_position() ? trace::LastKind::TARGET_SAMPLE
                                                : trace::LastKind::RESIDUAL;
}

trace::StepRecord counts(const Work& w) {
  trace::StepRecord r;
  r.request_key = w.sequence.request_key;
  r.seq_step = w.sequence.steps;
  r.context_len = static_cast<std::uint32_t>(w.view.tokens.size());
  r.kind = w.kind == WorkKind::FIRST ? trace::StepKind::PREFILL
           : w.draft.size()          ? trace::StepKind::SPECULATIVE
                                     : trace::StepKind::PLAIN;
  r.n_nodes = static_cast<std::uint16_t>(w.draft.size());
  r.max_depth = r.drafted = static_cast<std::uint16_t>(w.draft.height());
  for (const DraftModel* model : w.strategy().models)
    r.draft_fed += static_cast<std::uint32_t>(model->caught_up(w.sequence.request_key));
  if (const auto& chosen = w.sequence.chosen) {
    r.budget_nodes = static_cast<std::uint32_t>(chosen->max_nodes);
    r.budget_depth = static_cast<std::uint32_t>(chosen->max_depth);
  }
  r.answers = w.answers;
  r.last_kind = last_kind(w);
  r.draft_stop = w.draft_stop;
  r.expected_accepted = kUnknown;
  if (w.failed()) return r;
  r.accepted_by_rule = static_cast<std::uint16_t>(w.draft.depth(w.verdict.keep));
  r.committed = r.accepted_by_rule + 1;
  r.last_token = w.verdict.next;
  r.expected_accepted = w.expected_accepted;
  return r;
}

struct RowTask {
  TracedRow row;
  trace::LogitsRecord* into;
};

// Of the rows that `raw` has, in the order of their nodes.
void add_tasks(const Work& w, std::span<const float> (Work::*raw)(Node) const,
               List<trace::LogitsRecord>& into, List<RowTask>& tasks) {
  const std::size_t first = tasks.size();
  for (Node u = kRoot; u <= w.draft.size(); ++u) {
    const auto logits = (w.*raw)(u);
    const Node child = w.draft.first_child(u);
    const Token drafted = child == kNone ? kNone : w.draft.token(child);
    if (!logits.empty()) tasks.push_back({{u, logits, drafted, emitted_after(w, u)}, nullptr});
  }
  into.resize(tasks.size() - first);
  for (std::size_t k = first; k < tasks.size(); ++k) tasks[k].into = &into[k - first];
}

void record_rows(std::span<Work* const> works, const RowRecorder& recorder) {
  List<RowTask> tasks;
  for (Work* w : works) {
    add_tasks(*w, &Work::target_row, w->progress.record.target_rows, tasks);
    add_tasks(*w, &Work::draft_row, w->progress.record.draft_rows, tasks);
  }
  recorder.each(tasks.size(),
                [&](std::size_t k) { *tasks[k].into = recorder.record(tasks[k].row); });
}

struct MarginTask {
  std::span<const float> logits;
  Token token;
  float* into;
};

// Of the tokens that the step commits.
void record_margins(std::span<Work* const> works, const RowRecorder& recorder) {
  List<MarginTask> tasks;
  for (Work* w : works) {
    if (w->failed()) continue;
    const List<Node> passed = w->passed();
    List<float>& margins = w->progress.margins;
    margins.resize(passed.size());
    for (std::size_t k = 0; k < passed.size(); ++k)
      tasks.push_back({w->target_row(passed[k]), emitted_after(*w, passed[k]), &margins[k]});
  }
  recorder.each(tasks.size(), [&](std::size_t k) {
    *tasks[k].into = recorder.margin(tasks[k].logits, tasks[k].token);
  });
}

// Of a token in the raw row after `parent`, whose log-sum-exp `rows` hold.
float raw_logprob(std::span<const trace::LogitsRecord> rows, Node parent,
                  std::span<const float> logits, Token token) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [parent](const auto& r) { return r.node == parent; });
  return row == rows.end() ? kUnknown : logits[token] - row->lse;
}

trace::NodeRecord node_of(const Work& w, Node n) {
  const trace::StepRecord& r = w.progress.record;
  const Draft::Item& item = w.draft.item(n);
  const Row& p = w.p[item.parent];
  const auto q = item.law == Law::ROW ? w.draft.q(n) : item.row;
  const auto* test = test_of(w, n);
  const auto raw = w.draft_row(item.parent);
  trace::NodeRecord node{};
  node.token = item.token;
  node.parent = static_cast<std::int16_t>(item.parent);
  node.depth = static_cast<std::uint8_t>(w.draft.depth(n));
  node.law = static_cast<std::uint8_t>(item.law);
  node.score = item.score;
  node.q_logprob = q ? log_of(q->at(item.token)) : kUnknown;
  node.p_logprob = log_of(p.at(item.token));
  node.q_raw_logprob = raw_logprob(r.draft_rows, item.parent, raw, item.token);
  node.p_raw_logprob =
      raw_logprob(r.target_rows, item.parent, w.target_row(item.parent), item.token);
  node.alpha = item.law == Law::ROW ? static_cast<float>(p.overlap(*q)) : kUnknown;
  node.tv = w.tv.empty() ? kUnknown : w.tv[item.parent];
  node.optimal = w.optimal.empty() ? kUnknown : w.optimal[item.parent];
  node.accept_prob =
      test ? static_cast<float>(test->outcome ? test->prob : 1 - test->prob) : kUnknown;
  node.state = state_of(w, n, has_tests(w), test != nullptr);
  node.draft_rank = raw.empty() ? kNoDraftRank
                                : static_cast<std::uint16_t>(std::min<std::uint32_t>(
                                      rank_of(raw, item.token), kNoDraftRank - 1));
  return node;
}

// The most that any lossless rule keeps after each node.
void bound_nodes(std::span<Work* const> works, const RowRecorder& recorder) {
  List<std::pair<Work*, Node>> parents;
  for (Work* w : works) {
    w->optimal.assign(w->draft.size() + 1, kUnknown);
    for (Node u = kRoot; u <= w->draft.size(); ++u)
      if (w->draft.first_child(u) != kNone) parents.emplace_back(w, u);
  }
  recorder.each(parents.size(), [&](std::size_t k) {
    const auto& [w, u] = parents[k];
    w->optimal[u] = static_cast<float>(most_kept(w->draft, u, w->p[u]));
  });
}

void record_nodes(std::span<Work* const> works, const RowRecorder& recorder) {
  List<std::pair<Work*, Node>> nodes;
  for (Work* w : works) {
    w->progress.record.nodes.resize(w->draft.size());
    for (Node n = 1; n <= w->draft.size(); ++n) nodes.emplace_back(w, n);
  }
  recorder.each(nodes.size(), [&](std::size_t k) {
    const auto& [w, n] = nodes[k];
    w->progress.record.nodes[n - 1] = node_of(*w, n);
  });
}

}  // namespace

void record(std::span<Work* const> works, const RowRecorder& recorder) {
  List<Work*> traced;
  for (Work* w : works) {
    w->progress.record = counts(*w);
    if (recorder.level() == trace::Level::COUNTS || w->failed()) continue;
    w->progress.record.decisions = w->draws->log();
    traced.push_back(w);
  }
  record_margins(works, recorder);
  record_rows(traced, recorder);
  if (recorder.wants_optimal()) bound_nodes(traced, recorder);
  record_nodes(traced, recorder);
}

}  // namespace redline::step
