// SPDX-License-Identifier: Apache-2.0
// test_make_trace FILE LEVEL REQUESTS: writes a deterministic trace, and what went into it as JSON
// on stdout, field by field straight from the records. Python compares the two.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include "trace/events.hpp"
#include "trace/schema.hpp"
#include "trace/synthetic.hpp"
#include "trace/writer.hpp"

namespace {
using namespace redline::trace;

class Json {  // one flat object a line
 public:
  explicit Json(const char* table) { out_ << "{\"table\": \"" << table << '"'; }
  template <class T>
  Json& put(const char* name, T value) {
    out_ << ", \"" << name << "\": ";
    write(value);
    return *this;
  }
  ~Json() { std::cout << out_.str() << "}\n"; }

 private:
  template <class T>
  void write(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value))
        out_ << "null";
      else
        out_.precision(17), out_ << static_cast<double>(value);
    } else {
      out_ << +value;
    }
  }
  template <class T, class Allocator>
  void write(const std::vector<T, Allocator>& values) {
    out_ << '[';
    for (std::size_t i = 0; i < values.size(); ++i) out_ << (i ? ", " : ""), write(values[i]);
    out_ << ']';
  }
  std::ostringstream out_;
};

int code(auto value) { return static_cast<int>(value); }

void print(const StepRecord& s) {
  Json("steps")
      .put("request_key", s.request_key)
      .put("batch_id", s.batch_id)
      .put("seq_step", s.seq_step)
      .put("context_len", s.context_len)
      .put("kind", code(s.kind))
      .put("n_nodes", s.n_nodes)
      .put("max_depth", s.max_depth)
      .put("drafted", s.drafted)
      .put("accepted_by_rule", s.accepted_by_rule)
      .put("committed", s.committed)
      .put("emitted", s.emitted)
      .put("expected_accepted", s.expected_accepted)
      .put("last_token", s.last_token)
      .put("last_kind", code(s.last_kind))
      .put("draft_stop", code(s.draft_stop))
      .put("budget_nodes", s.budget_nodes)
      .put("budget_depth", s.budget_depth)
      .put("n_answers", s.answers.size())
      .put("draft_fed", s.draft_fed);
  for (const AnswerRecord& a : s.answers)
    Json("answers").put("depth", a.depth).put("may_grow", code(a.may_grow));
  for (const NodeRecord& n : s.nodes)
    Json("nodes")
        .put("token", n.token)
        .put("parent", n.parent - 1)
        .put("depth", n.depth)
        .put("law", n.law)
        .put("score", n.score)
        .put("q_logprob", n.q_logprob)
        .put("p_logprob", n.p_logprob)
        .put("q_raw_logprob", n.q_raw_logprob)
        .put("p_raw_logprob", n.p_raw_logprob)
        .put("alpha", n.alpha)
        .put("tv", n.tv)
        .put("accept_prob", n.accept_prob)
        .put("state", code(n.state))
        .put("draft_rank", n.draft_rank)
        .put("optimal", n.optimal);
  for (const DecisionRecord& d : s.decisions)
    Json("decisions")
        .put("call", d.call)
        .put("kind", d.kind)
        .put("stream", d.stream)
        .put("node", d.node - 1)
        .put("prob", d.prob)
        .put("outcome", d.outcome);
  const auto rows = [](const char* table, const redline::List<LogitsRecord>& all) {
    for (const LogitsRecord& l : all)
      Json(table)
          .put("node", l.node - 1)
          .put("lse", l.lse)
          .put("entropy", l.entropy)
          .put("tail_mass", l.tail_mass)
          .put("arg_max", l.argmax)
          .put("drafted_logit", l.drafted_logit)
          .put("drafted_rank", l.drafted_rank)
          .put("emitted_logit", l.emitted_logit)
          .put("topk_ids", l.topk_ids)
          .put("topk_vals", l.topk_values)
          .put("full", l.full);
  };
  rows("logits/target", s.target_rows), rows("logits/draft", s.draft_rows);
}

void print(const BatchRecord& b) {
  Json("batches")
      .put("batch_id", b.batch_id)
      .put("n_seqs", b.n_seqs)
      .put("n_rows", b.n_rows)
      .put("t_start", b.t_start_ns)
      .put("draft_ns", b.draft_ns)
      .put("target_ns", b.target_ns)
      .put("verify_ns", b.verify_ns)
      .put("sample_ns", b.sample_ns)
      .put("kv_ns", b.kv_ns)
      .put("sched_ns", b.sched_ns)
      .put("log_ns", b.log_ns)
      .put("tokens_ns", b.tokens_ns)
      .put("total_ns", b.total_ns)
      .put("graph_hit", code(b.graph_hit))
      .put("rank_max_ns", b.rank_max_ns)
      .put("rank_min_ns", b.rank_min_ns);
}

void print(const RequestRecord& r) {
  Json("requests")
      .put("request_key", r.request_key)
      .put("question_id", r.question_id)
      .put("category", r.category)
      .put("turn", r.turn)
      .put("repeat", r.repeat)
      .put("seed", r.seed)
      .put("is_warmup", code(r.is_warmup))
      .put("n_prompt", r.n_prompt)
      .put("n_cached", r.n_cached)
      .put("n_output", r.n_output)
      .put("n_steps", r.n_steps)
      .put("finish_reason", code(r.finish_reason))
      .put("sampling_code", r.sampling_code)
      .put("t_arrival", r.t_arrival_ns)
      .put("t_start", r.t_start_ns)
      .put("t_first", r.t_first_ns)
      .put("t_end", r.t_end_ns)
      .put("error", r.error)
      .put("prompt_tokens", r.prompt_tokens)
      .put("output_tokens", r.output_tokens);
}

void print(const EventRecord& e) {
  Json("events")
      .put("t_ns", e.t_ns)
      .put("code", e.code)
      .put("request_key", e.request_key)
      .put("value", e.value);
}
void print(const KvRecord& k) {
  Json("kv")
      .put("t_ns", k.t_ns)
      .put("batch_id", k.batch_id)
      .put("blocks_total", k.blocks_total)
      .put("blocks_used", k.blocks_used)
      .put("blocks_draft", k.blocks_draft)
      .put("evicted", k.evicted)
      .put("preempted", k.preempted)
      .put("copied_bytes", k.copied_bytes)
      .put("running", k.running)
      .put("waiting", k.waiting)
      .put("host_rss_bytes", k.host_rss_bytes);
}

Level level_of(std::string_view name) {
  for (Level level : {Level::COUNTS, Level::CHOSEN, Level::TOPK, Level::FULL})
    if (schema::name_of(level) == name) return level;
  throw redline::InputError("no such level");
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const Level level = level_of(argv[2]);
  Writer writer(argv[1], synthetic::header(level));
  for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(std::atoi(argv[3])); ++r) {
    for (std::uint32_t s = 0; s < synthetic::steps(r); ++s) {
      print(synthetic::step(r, s, level)), writer.step(synthetic::step(r, s, level));
      print(synthetic::batch(r, s)), writer.batch(synthetic::batch(r, s));
    }
    const EventRecord event{1000 * r, static_cast<std::uint16_t>(Event::RETRIED), synthetic::key(r),
                            0.5 * r};
    print(event), writer.event(event);
    KvRecord sample{.t_ns = 2000 * r, .batch_id = r, .blocks_total = 64, .blocks_used = r};
    print(sample), writer.kv(sample);
    print(synthetic::request(r)), writer.request(synthetic::request(r));
  }
  writer.close();
}
