// SPDX-License-Identifier: Apache-2.0
// The tables of steps and what hangs below one: nodes, decisions, logits.
#include <algorithm>

#include "trace/schema.hpp"

namespace redline::trace::schema {
namespace {

constexpr std::string_view kStepKinds[] = {"prefill", "plain", "speculative", "shadow"};
constexpr std::string_view kLastKinds[] = {"residual", "bonus", "target_sample", "none"};
constexpr std::string_view kDraftStops[] = {"budget", "policy", "grammar", "none"};
constexpr std::string_view kLaws[] = {"row", "delta", "coupled"};
constexpr std::string_view kNodeStates[] = {"not_reached", "rejected", "accepted"};
constexpr std::string_view kDecisionKinds[] = {"bernoulli", "categorical", "sample", "gumbel"};
constexpr std::string_view kStreams[] = {"draft", "accept", "residual", "target", "gumbel"};
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();

// A record counts nodes from the root (0); a column counts rows below node_start, the root is -1.
template <class T>
T below_start(Node node) {
  return static_cast<T>(node - 1);
}

template <class Get>
Field<StepRow> of_step(std::string_view name, Get get, Notes notes) {
  return field<StepRow>(name, get, notes);
}
template <class Get>
Field<NodeRecord> of_node(std::string_view name, Get get, Notes notes) {
  return field<NodeRecord>(name, get, notes);
}
template <class Get>
Field<LogitsRow> of_logits(std::string_view name, Get get, Notes notes) {
  return field<LogitsRow>(name, get, notes);
}

template <class T>
std::vector<T> padded(const List<T>& values, std::int32_t width, T missing) {
  std::vector<T> out(values.begin(),
                     values.begin() + std::min<std::ptrdiff_t>(values.size(), width));
  out.resize(width, missing);
  return out;
}

std::vector<Field<LogitsRow>> logits_fields() {
  using L = LogitsRow;
  constexpr Missing kMaybe = Missing::NOT_A_NUMBER;
  return {
      of_logits("step_row", [](const L& l) { return l.step_row; },
                {.description = "row of /steps"}),
      of_logits("node", [](const L& l) { return below_start<std::int32_t>(l.record.node); },
                {.missing = Missing::MINUS_ONE,
                 .description = "row of /nodes below node_start; -1: the root"}),
      of_logits("lse", [](const L& l) { return l.record.lse; },
                {.unit = "nats", .description = "log-sum-exp of the untouched row"}),
      of_logits("entropy", [](const L& l) { return l.record.entropy; },
                {.unit = "nats", .description = "of the untouched row's softmax"}),
      of_logits("tail_mass", [](const L& l) { return l.record.tail_mass; },
                {.unit = "1", .missing = kMaybe, .description = "probability outside the top k"}),
      of_logits("arg_max", [](const L& l) { return static_cast<std::uint32_t>(l.record.argmax); },
                {.description = "id of the largest logit"}),
      of_logits("drafted_logit", [](const L& l) { return l.record.drafted_logit; },
                {.unit = "logit", .missing = kMaybe, .description = "of the token drafted here"}),
      of_logits("drafted_rank", [](const L& l) { return l.record.drafted_rank; },
                {.unit = "1", .missing = Missing::MAXIMUM, .description = "its rank, 0 = best"}),
      of_logits("emitted_logit", [](const L& l) { return l.record.emitted_logit; },
                {.unit = "logit", .missing = kMaybe, .description = "of the token emitted here"}),
      wide_field<L>("topk_ids", Width::TOPK,
                    [](const L& l) { return padded(l.record.topk_ids, l.topk, kNoId); },
                    {.missing = Missing::MAXIMUM,
                     .description = "ids of the k largest logits, best first",
                     .from = Level::TOPK}),
      wide_field<L>("topk_vals", Width::TOPK,
                    [](const L& l) { return padded(l.record.topk_values, l.topk, kNan); },
                    {.unit = "logit",
                     .missing = kMaybe,
                     .description = "their raw logits",
                     .from = Level::TOPK})};
}

std::vector<Field<FullRow>> full_fields(std::string_view row_of) {
  using F = FullRow;
  return {field<F>("row", [](const F& f) { return f.row; }, {.description = row_of}),
          // Half keeps steps of 1/64 between 16 and 32; exact figures stand in float32 beside it.
          wide_field<F>("values", Width::VOCAB,
                        [](const F& f) {
                          return std::vector<_Float16>(f.record.full.begin(), f.record.full.end());
                        },
                        {.unit = "logit", .description = "all raw logits, half precision"})};
}

}  // namespace

const Table<StepRow>& steps() {
  using S = StepRow;
  static const Table<S> table{
      {"/steps", 4096, Level::COUNTS, "one row a sequence and step"},
      {of_step("request_key", [](const S& s) { return s.record.request_key; },
               {.description = "the request, as in /requests"}),
       of_step("batch_id", [](const S& s) { return s.record.batch_id; },
               {.description = "the iteration, as in /batches"}),
       of_step("seq_step", [](const S& s) { return s.record.seq_step; },
               {.unit = "steps",
                .description = "the request's own count of steps, as in the random keys"}),
       of_step("context_len", [](const S& s) { return s.record.context_len; },
               {.unit = "tokens",
                .description = "committed tokens before the step, the root included"}),
       of_step("kind", [](const S& s) { return static_cast<std::uint8_t>(s.record.kind); },
               {.description = "what the step was", .labels = kStepKinds}),
       of_step("n_nodes", [](const S& s) { return s.record.n_nodes; },
               {.unit = "nodes", .description = "drafted tokens verified"}),
       of_step("max_depth", [](const S& s) { return s.record.max_depth; },
               {.unit = "tokens", .description = "depth of the draft tree"}),
       of_step("drafted", [](const S& s) { return s.record.drafted; },
               {.unit = "tokens", .description = "on the deepest path; of a chain, all"}),
       of_step("accepted_by_rule", [](const S& s) { return s.record.accepted_by_rule; },
               {.unit = "tokens", .description = "drafted tokens the rule kept"}),
       of_step("committed", [](const S& s) { return s.record.committed; },
               {.unit = "tokens", .description = "accepted, and the target's own token"}),
       of_step("emitted", [](const S& s) { return s.record.emitted; },
               {.unit = "tokens", .description = "of the committed, after stop and length"}),
       of_step("expected_accepted", [](const S& s) { return s.record.expected_accepted; },
               {.unit = "tokens",
                .missing = Missing::NOT_A_NUMBER,
                .description = "accepted_by_rule in expectation, given the tree"}),
       of_step("last_token",
               [](const S& s) { return static_cast<std::uint32_t>(s.record.last_token); },
               {.missing = Missing::MAXIMUM, .description = "the token after the accepted path"}),
       of_step("last_kind",
               [](const S& s) { return static_cast<std::uint8_t>(s.record.last_kind); },
               {.description = "where it came from", .labels = kLastKinds}),
       of_step("draft_stop",
               [](const S& s) { return static_cast<std::uint8_t>(s.record.draft_stop); },
               {.description = "what ended the draft", .labels = kDraftStops}),
       of_step(
           "node_start", [](const S& s) { return s.node_start; },
           {.missing = Missing::MAXIMUM,
            .description = "first of its n_nodes rows of /nodes; missing when none are stored"}),
       of_step("decision_start", [](const S& s) { return s.decision_start; },
               {.missing = Missing::MAXIMUM, .description = "first of its rows of /decisions"}),
       of_step("logit_start", [](const S& s) { return s.logit_start; },
               {.missing = Missing::MAXIMUM, .description = "first of its rows of /logits/target"}),
       of_step("budget_nodes", [](const S& s) { return s.record.budget_nodes; },
               {.unit = "nodes",
                .missing = Missing::MAXIMUM,
                .description = "the length policy's, before limits cut it; missing: not asked",
                .since = 1}),
       of_step("budget_depth", [](const S& s) { return s.record.budget_depth; },
               {.unit = "tokens",
                .missing = Missing::MAXIMUM,
                .description = "the length policy's, likewise",
                .since = 1}),
       of_step("answer_start", [](const S& s) { return s.answer_start; },
               {.description = "first of its n_answers rows of /answers", .since = 1}),
       of_step("n_answers",
               [](const S& s) { return static_cast<std::uint16_t>(s.record.answers.size()); },
               {.description = "how often the length policy was asked to proceed", .since = 1}),
       of_step("draft_fed", [](const S& s) { return s.record.draft_fed; },
               {.unit = "tokens",
                .description = "committed, that draft models were fed for it, roots left out",
                .since = 2})}};
  return table;
}

const Table<AnswerRow>& answers() {
  using A = AnswerRow;
  static const Table<A> table{
      {"/answers", 4096, Level::COUNTS,
       "what the length policy said of each draft row, in the order it was asked"},
      {field<A>("step_row", [](const A& a) { return a.step_row; },
                {.description = "row of /steps", .since = 1}),
       field<A>("depth", [](const A& a) { return a.record.depth; },
                {.unit = "tokens", .description = "of the parent: 0 is the root", .since = 1}),
       field<A>("may_grow", [](const A& a) { return a.record.may_grow; },
                {.description = "whether a child may follow", .since = 1})}};
  return table;
}

const Table<NodeRecord>& nodes() {
  using N = NodeRecord;
  constexpr Missing kMaybe = Missing::NOT_A_NUMBER;
  static const Table<N> table{
      {"/nodes", 8192, Level::CHOSEN,
       "drafted tokens in step order; the target's own token is never one"},
      {of_node("token", [](const N& n) { return static_cast<std::uint32_t>(n.token); },
               {.description = "its id"}),
       of_node(
           "parent", [](const N& n) { return below_start<std::int16_t>(n.parent); },
           {.missing = Missing::MINUS_ONE, .description = "row below node_start; -1: the root"}),
       of_node("depth", [](const N& n) { return n.depth; },
               {.unit = "tokens", .description = "1 for children of the root"}),
       of_node("law", [](const N& n) { return n.law; },
               {.description = "how the token was drawn", .labels = kLaws}),
       of_node("score", [](const N& n) { return n.score; },
               {.unit = "1", .missing = kMaybe, .description = "the drafter's own confidence"}),
       of_node("q_logprob", [](const N& n) { return n.q_logprob; },
               {.unit = "nats",
                .missing = kMaybe,
                .description = "draft, after the sampling transforms"}),
       of_node("p_logprob", [](const N& n) { return n.p_logprob; },
               {.unit = "nats",
                .missing = kMaybe,
                .description = "target, after the sampling transforms"}),
       of_node("q_raw_logprob", [](const N& n) { return n.q_raw_logprob; },
               {.unit = "nats", .missing = kMaybe, .description = "draft, before them"}),
       of_node("p_raw_logprob", [](const N& n) { return n.p_raw_logprob; },
               {.unit = "nats", .missing = kMaybe, .description = "target, before them"}),
       of_node("alpha", [](const N& n) { return n.alpha; },
               {.unit = "1", .missing = kMaybe, .description = "sum of min(p, q) at the parent"}),
       of_node("tv", [](const N& n) { return n.tv; },
               {.unit = "1",
                .missing = kMaybe,
                .description = "of an approximate rule's token after the parent, from p there",
                .since = 1}),
       of_node("accept_prob", [](const N& n) { return n.accept_prob; },
               {.unit = "1",
                .missing = kMaybe,
                .description = "of the rule's test; missing when not tested"}),
       of_node("state", [](const N& n) { return static_cast<std::uint8_t>(n.state); },
               {.description = "what became of it", .labels = kNodeStates}),
       of_node("draft_rank", [](const N& n) { return n.draft_rank; },
               {.unit = "1",
                .missing = Missing::MAXIMUM,
                .description = "rank of the token in q, 0 = best"}),
       of_node("optimal", [](const N& n) { return n.optimal; },
               {.unit = "1",
                .missing = kMaybe,
                .description = "the most that any lossless rule keeps at the parent; on request",
                .since = 2})}};
  return table;
}

const Table<DecisionRow>& decisions() {
  using D = DecisionRow;
  static const Table<D> table{
      {"/decisions", 8192, Level::CHOSEN, "every draw a plugin made through the host"},
      {field<D>("step_row", [](const D& d) { return d.step_row; },
                {.description = "row of /steps"}),
       field<D>("call", [](const D& d) { return d.record.call; },
                {.description = "order within the step"}),
       field<D>("kind", [](const D& d) { return d.record.kind; },
                {.description = "what was asked", .labels = kDecisionKinds}),
       field<D>("stream", [](const D& d) { return d.record.stream; },
                {.description = "which random stream answered", .labels = kStreams}),
       field<D>("node", [](const D& d) { return below_start<std::int16_t>(d.record.node); },
                {.missing = Missing::MINUS_ONE,
                 .description = "row of /nodes below node_start; -1: the root"}),
       field<D>(
           "prob", [](const D& d) { return d.record.prob; },
           {.unit = "1", .missing = Missing::NOT_A_NUMBER, .description = "of the outcome taken"}),
       field<D>("outcome", [](const D& d) { return d.record.outcome; },
                {.description = "1 or 0 of a bernoulli, else the token id"})}};
  return table;
}

const Table<LogitsRow>& target_logits() {
  static const Table<LogitsRow> table{{"/logits/target", 256, Level::CHOSEN,
                                       "target rows, raw logits (before temperature and all else)"},
                                      logits_fields()};
  return table;
}
const Table<LogitsRow>& draft_logits() {
  static const Table<LogitsRow> table{{"/logits/draft", 256, Level::CHOSEN, "draft rows, likewise"},
                                      logits_fields()};
  return table;
}
const Table<FullRow>& target_full() {
  static const Table<FullRow> table{{"/logits/target_full", 256, Level::FULL, "whole target rows"},
                                    full_fields("row of /logits/target")};
  return table;
}
const Table<FullRow>& draft_full() {
  static const Table<FullRow> table{{"/logits/draft_full", 256, Level::FULL, "whole draft rows"},
                                    full_fields("row of /logits/draft")};
  return table;
}

}  // namespace redline::trace::schema
