// SPDX-License-Identifier: Apache-2.0
// The tables of requests, iterations, memory and events, and the list of all tables.
#include "trace/schema.hpp"

#include "trace/events.hpp"

namespace redline::trace::schema {
namespace {

constexpr std::string_view kFinish[] = {"stop", "length", "context", "error", "cancelled"};
constexpr Ragged kTokenLists[] = {
    {"/requests/prompt_tokens", "ids of the rendered prompt",
     [](const RequestRecord& r) -> const std::vector<Token>& { return r.prompt_tokens; }},
    {"/requests/output_tokens", "ids emitted, the stop token included",
     [](const RequestRecord& r) -> const std::vector<Token>& { return r.output_tokens; }}};

template <class Get>
Field<RequestRecord> of_request(std::string_view name, Get get, Notes notes) {
  return field<RequestRecord>(name, get, notes);
}
template <class Get>
Field<BatchRecord> of_batch(std::string_view name, Get get, Notes notes) {
  return field<BatchRecord>(name, get, notes);
}
template <class Get>
Field<KvRecord> of_kv(std::string_view name, Get get, Notes notes) {
  return field<KvRecord>(name, get, notes);
}

template <class Row>
TableView view(const Table<Row>& table) {
  TableView out{table.facts, {}};
  for (const Field<Row>& each : table.fields) out.columns.push_back(each.column);
  return out;
}

}  // namespace

std::string_view name_of(Level level) {
  constexpr std::string_view kNames[] = {"counts", "chosen", "topk", "full"};
  return kNames[static_cast<std::size_t>(level)];
}

const Table<RequestRecord>& requests() {
  using R = RequestRecord;
  static const Table<R> table{
      {"/requests", 1024, Level::COUNTS,
       "one row a request, appended when it ends; a row vouches for its steps"},
      {of_request("request_key", [](const R& r) { return r.request_key; },
                  {.description = "hash of (data set, question, turn, repeat)"}),
       of_request("question_id", [](const R& r) { return r.question_id; },
                  {.description = "the data set's own id"}),
       of_request("category", [](const R& r) { return r.category; },
                  {.missing = Missing::MAXIMUM, .description = "index into /dataset/categories"}),
       of_request("turn", [](const R& r) { return r.turn; },
                  {.description = "turn of the conversation, from 0"}),
       of_request("repeat", [](const R& r) { return r.repeat; },
                  {.description = "repetition of the question, from 0"}),
       of_request("seed", [](const R& r) { return r.seed; },
                  {.description = "root of the random streams"}),
       of_request("is_warmup", [](const R& r) { return r.is_warmup; },
                  {.description = "left out of every statistic"}),
       of_request("n_prompt", [](const R& r) { return r.n_prompt; },
                  {.unit = "tokens", .description = "length of the rendered prompt"}),
       of_request("n_cached", [](const R& r) { return r.n_cached; },
                  {.unit = "tokens", .description = "prompt tokens found in the prefix cache"}),
       of_request("n_output", [](const R& r) { return r.n_output; },
                  {.unit = "tokens", .description = "tokens emitted, the stop token included"}),
       of_request(
           "n_steps", [](const R& r) { return r.n_steps; },
           {.unit = "steps",
            .description = "its rows of /steps that committed tokens, kind prefill left out"}),
       of_request("finish_reason",
                  [](const R& r) { return static_cast<std::uint8_t>(r.finish_reason); },
                  {.description = "why it ended", .labels = kFinish}),
       of_request("sampling_code", [](const R& r) { return r.sampling_code; },
                  {.description = "which sampling settings of the config it ran under"}),
       of_request("t_arrival", [](const R& r) { return r.t_arrival_ns; },
                  {.unit = "ns", .description = "handed in, on /meta/clock"}),
       of_request("t_start", [](const R& r) { return r.t_start_ns; },
                  {.unit = "ns", .description = "prefill began"}),
       of_request("t_first", [](const R& r) { return r.t_first_ns; },
                  {.unit = "ns", .description = "first token emitted"}),
       of_request("t_end", [](const R& r) { return r.t_end_ns; },
                  {.unit = "ns", .description = "last token emitted"}),
       of_request("error", [](const R& r) { return r.error; },
                  {.description = "0: none; else the request ended with an error"})}};
  return table;
}

const Table<BatchRecord>& batches() {
  using B = BatchRecord;
  constexpr auto kSpent = [](std::string_view what) {
    return Notes{.unit = "ns", .description = what};
  };
  static const Table<B> table{
      {"/batches", 4096, Level::COUNTS,
       "one row an engine iteration; its times belong to all its sequences together"},
      {of_batch("batch_id", [](const B& b) { return b.batch_id; },
                {.description = "key of /steps/batch_id"}),
       of_batch("n_seqs", [](const B& b) { return b.n_seqs; },
                {.unit = "sequences", .description = "sequences in the pass"}),
       of_batch("n_rows", [](const B& b) { return b.n_rows; },
                {.unit = "rows", .description = "rows of the target pass"}),
       of_batch("t_start", [](const B& b) { return b.t_start_ns; },
                {.unit = "ns", .description = "start, on /meta/clock"}),
       of_batch(
           "draft_ns", [](const B& b) { return b.draft_ns; }, kSpent("drafting")),
       of_batch(
           "target_ns", [](const B& b) { return b.target_ns; }, kSpent("target forward")),
       of_batch(
           "verify_ns", [](const B& b) { return b.verify_ns; }, kSpent("acceptance rule")),
       of_batch(
           "sample_ns", [](const B& b) { return b.sample_ns; }, kSpent("sampler chain")),
       of_batch(
           "kv_ns", [](const B& b) { return b.kv_ns; },
           kSpent("reserving, committing, rolling back pages")),
       of_batch(
           "sched_ns", [](const B& b) { return b.sched_ns; }, kSpent("scheduling")),
       of_batch(
           "log_ns", [](const B& b) { return b.log_ns; }, kSpent("handing records to the trace")),
       of_batch(
           "tokens_ns", [](const B& b) { return b.tokens_ns; },
           kSpent("from the start until the tokens were handed out")),
       of_batch(
           "total_ns", [](const B& b) { return b.total_ns; }, kSpent("the whole iteration")),
       of_batch("graph_hit", [](const B& b) { return b.graph_hit; },
                {.description = "a captured device graph was replayed"}),
       of_batch("rank_max_ns", [](const B& b) { return b.rank_max_ns; },
                {.unit = "ns",
                 .missing = Missing::MINUS_ONE,
                 .description = "slowest rank's target forward"}),
       of_batch("rank_min_ns", [](const B& b) { return b.rank_min_ns; },
                {.unit = "ns",
                 .missing = Missing::MINUS_ONE,
                 .description = "fastest rank's target forward"})}};
  return table;
}

const Table<KvRecord>& kv() {
  using K = KvRecord;
  constexpr auto kNote = [](std::string_view unit, std::string_view what) {
    return Notes{.unit = unit, .missing = Missing::MAXIMUM, .description = what};
  };
  static const Table<K> table{
      {"/kv", 1024, Level::COUNTS, "samples of the page pools and of memory"},
      {of_kv("t_ns", [](const K& k) { return k.t_ns; },
             {.unit = "ns", .description = "when, on /meta/clock"}),
       of_kv("batch_id", [](const K& k) { return k.batch_id; },
             {.description = "iteration it was taken after"}),
       of_kv(
           "blocks_total", [](const K& k) { return k.blocks_total; },
           kNote("pages", "pages of the target's pool")),
       of_kv(
           "blocks_used", [](const K& k) { return k.blocks_used; },
           kNote("pages", "of them in use")),
       of_kv(
           "blocks_draft", [](const K& k) { return k.blocks_draft; },
           kNote("pages", "in use in the draft's pool")),
       of_kv(
           "evicted", [](const K& k) { return k.evicted; },
           kNote("pages", "dropped from the prefix cache so far")),
       of_kv(
           "preempted", [](const K& k) { return k.preempted; },
           kNote("sequences", "preempted so far")),
       of_kv(
           "copied_bytes", [](const K& k) { return k.copied_bytes; },
           kNote("bytes", "moved by compaction so far")),
       of_kv(
           "running", [](const K& k) { return k.running; }, kNote("sequences", "running")),
       of_kv(
           "waiting", [](const K& k) { return k.waiting; }, kNote("sequences", "waiting")),
       of_kv(
           "host_rss_bytes", [](const K& k) { return k.host_rss_bytes; },
           kNote("bytes", "resident memory of the process"))}};
  return table;
}

const Table<EventRecord>& events() {
  using E = EventRecord;
  static const Table<E> table{
      {"/events", 256, Level::COUNTS, "what happened beside the steps"},
      {field<E>("t_ns", [](const E& e) { return e.t_ns; },
                {.unit = "ns", .description = "when, on /meta/clock"}),
       field<E>("code", [](const E& e) { return e.code; },
                {.description = "what", .labels = kEventNames}),
       field<E>("request_key", [](const E& e) { return e.request_key; },
                {.description = "0: of the run, not of one request"}),
       field<E>("value", [](const E& e) { return e.value; },
                {.missing = Missing::NOT_A_NUMBER, .description = "its number, by code"})}};
  return table;
}

std::span<const Ragged> token_lists() { return kTokenLists; }

std::vector<TableView> tables() {
  return {view(requests()),      view(batches()),     view(steps()),
          view(answers()),       view(nodes()),       view(decisions()),
          view(target_logits()), view(target_full()), view(draft_logits()),
          view(draft_full()),    view(kv()),          view(events())};
}

}  // namespace redline::trace::schema
