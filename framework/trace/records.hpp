// SPDX-License-Identifier: Apache-2.0
// What one step, one request and one run leave behind: plain records, the columns of
// docs/traces.md. Filled by the engine, stored by a TraceSink.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redline/types.hpp"

namespace redline::trace {

enum class Level : std::uint8_t { COUNTS, CHOSEN, TOPK, FULL };
enum class StepKind : std::uint8_t { PREFILL, PLAIN, SPECULATIVE, SHADOW };
enum class LastKind : std::uint8_t { RESIDUAL, BONUS, TARGET_SAMPLE, NONE };
enum class DraftStop : std::uint8_t { BUDGET, POLICY, GRAMMAR, NONE };
enum class NodeState : std::uint8_t { NOT_REACHED, REJECTED, ACCEPTED };
enum class FinishReason : std::uint8_t { STOP, LENGTH, CONTEXT, ERROR, CANCELLED };

struct NodeRecord {
  Token token;
  std::int16_t parent;  // node index, 0 = root (stored as -1)
  std::uint8_t depth, law;
  float score;                         // NaN when the drafter gave none
  float q_logprob, p_logprob;          // after the sampling transforms; NaN when not known
  float q_raw_logprob, p_raw_logprob;  // before them
  float alpha;                         // sum min(p, q) at the parent
  float tv;                            // of what the rule emits after the parent, from p there
  float optimal;                       // the most that any lossless rule keeps after the parent
  float accept_prob;                   // of the rule's test, NaN when not tested
  NodeState state;
  std::uint16_t draft_rank;  // of the token in q, 0 = best; 65535 when not known
};

struct DecisionRecord {
  std::uint16_t call;
  std::uint8_t kind;    // bernoulli, categorical, sample, gumbel
  std::uint8_t stream;  // D, A, R, T, G
  Node node;
  double prob;  // of the outcome taken
  std::uint32_t outcome;
};

struct AnswerRecord {  // of the length policy, in the order it was asked
  std::uint8_t depth;  // of the parent: 0 is the root
  bool may_grow;       // whether a child may follow
};

struct LogitsRecord {  // one target row, raw logits
  Node node;           // 0 = root (stored as -1)
  float lse, entropy, tail_mass;
  Token argmax;
  float drafted_logit, emitted_logit;  // NaN when there is none
  std::uint32_t drafted_rank;          // 2^32-1 when there is none
  List<std::uint32_t> topk_ids;
  List<float> topk_values;
  List<float> full;  // [V] at level FULL, else empty
};

struct StepRecord {
  std::uint64_t request_key = 0, batch_id = 0;
  std::uint32_t seq_step = 0, context_len = 0;
  StepKind kind = StepKind::PLAIN;
  std::uint16_t n_nodes = 0, max_depth = 0;
  // What the length policy chose, before contexts and max_tokens cut it.
  static constexpr std::uint32_t kNoBudget = ~std::uint32_t{0};  // it was not asked, or failed
  std::uint32_t budget_nodes = kNoBudget, budget_depth = kNoBudget;
  std::uint16_t drafted = 0, accepted_by_rule = 0, committed = 0, emitted = 0;
  std::uint32_t draft_fed = 0;  // committed tokens that draft models were fed for it, roots apart
  float expected_accepted = 0;  // NaN when the rule cannot say
  Token last_token = -1;
  LastKind last_kind = LastKind::NONE;
  DraftStop draft_stop = DraftStop::NONE;
  List<AnswerRecord> answers;
  List<NodeRecord> nodes;
  List<DecisionRecord> decisions;
  List<LogitsRecord> target_rows;
  List<LogitsRecord> draft_rows;
};

struct BatchRecord {  // one engine iteration
  std::uint64_t batch_id = 0;
  std::uint16_t n_seqs = 0;
  std::uint32_t n_rows = 0;
  std::int64_t t_start_ns = 0, draft_ns = 0, target_ns = 0, verify_ns = 0, sample_ns = 0, kv_ns = 0,
               sched_ns = 0, log_ns = 0;
  std::int64_t tokens_ns = 0, total_ns = 0;  // until its tokens were handed out; until its end
  bool graph_hit = false;                    // a captured device graph was replayed
  std::int64_t rank_max_ns = -1, rank_min_ns = -1;  // of the target pass over ranks; -1: one rank
};

struct RequestRecord {
  std::uint64_t request_key = 0, question_id = 0;
  std::uint16_t category = 0;
  std::uint8_t turn = 0;
  std::uint16_t repeat = 0;
  std::uint64_t seed = 0;
  bool is_warmup = false;
  std::uint32_t n_prompt = 0, n_cached = 0, n_output = 0, n_steps = 0;
  FinishReason finish_reason = FinishReason::LENGTH;
  std::uint16_t sampling_code = 0;
  std::int64_t t_arrival_ns = 0, t_start_ns = 0, t_first_ns = 0, t_end_ns = 0;
  std::uint8_t error = 0;
  std::vector<Token> prompt_tokens, output_tokens;
};

struct EventRecord {
  std::int64_t t_ns = 0;
  std::uint16_t code = 0;  // trace/events.hpp names them
  std::uint64_t request_key = 0;
  double value = 0;
};

struct KvRecord {  // a sample of the page pools; what is not known stays at its maximum
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  std::int64_t t_ns = 0;
  std::uint64_t batch_id = 0;
  std::uint64_t blocks_total = kUnknown, blocks_used = kUnknown, blocks_draft = kUnknown;
  std::uint64_t evicted = kUnknown, preempted = kUnknown, copied_bytes = kUnknown;
  std::uint64_t running = kUnknown, waiting = kUnknown, host_rss_bytes = kUnknown;
};

// Known before the first step: the attributes of /meta, /models, /plugins and /dataset.
struct Attributes {
  std::string group;                                        // "/models/target"
  std::vector<std::pair<std::string, std::string>> values;  // text; numbers as JSON text
};
struct Header {
  std::string run_id, cell;  // run_id: UUID
  std::int32_t attempt = 0;
  std::string config_yaml, config_resolved, provenance, overrides;
  std::string config_sha256;
  Level level = Level::TOPK;
  std::int32_t topk = 64, vocab = 0;
  std::vector<Attributes> attributes;
  std::vector<std::string> categories;
  bool reproducible = true;  // false: a length policy reads the clock
};

}  // namespace redline::trace
