// SPDX-License-Identifier: Apache-2.0
// Requests made up by formula: every field differs from its neighbours, the counts agree, and a
// reader in another language can work out what must stand in the file (tests/analysis).
#pragma once
#include <limits>
#include <vector>

#include "trace/records.hpp"

namespace redline::trace::synthetic {

inline constexpr std::int32_t kVocab = 50, kTopk = 4;
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline std::uint64_t key(std::uint32_t request) { return 1'000'000'007ULL * (request + 1); }
inline std::uint32_t steps(std::uint32_t request) { return 1 + request % 7; }
inline int nodes(std::uint32_t request, std::uint32_t step) {
  return static_cast<int>(request + step) % 5;
}
inline int accepted(std::uint32_t request, std::uint32_t step) {  // of a chain of nodes()
  return nodes(request, step) == 0
             ? 0
             : static_cast<int>(request + 2 * step) % (nodes(request, step) + 1);
}
inline Token token(std::uint32_t request, std::uint32_t step, int at) {
  return static_cast<Token>((request * 1000 + step * 10 + at) % 2'000'000'000);
}

inline NodeRecord node(std::uint32_t request, std::uint32_t step, int n) {  // n = 1..
  const int kept = accepted(request, step);
  const float x = static_cast<float>((request + step * 3 + n) % 16) / 16;
  NodeRecord out{};
  out.token = token(request, step, n);
  out.parent = static_cast<std::int16_t>(n - 1);
  out.depth = static_cast<std::uint8_t>(n);
  out.law = static_cast<std::uint8_t>(n % 3);
  out.score = n % 2 ? x : kNan;
  out.q_logprob = -x, out.p_logprob = -2 * x, out.q_raw_logprob = -3 * x,
  out.p_raw_logprob = -4 * x;
  out.alpha = x, out.tv = 1 - x, out.accept_prob = n <= kept + 1 ? 1 - x : kNan;
  out.optimal = n % 2 ? x / 2 : kNan;
  out.state = n <= kept       ? NodeState::ACCEPTED
              : n == kept + 1 ? NodeState::REJECTED
                              : NodeState::NOT_REACHED;
  out.draft_rank = n % 2 ? static_cast<std::uint16_t>(n) : 65535;
  return out;
}

inline LogitsRecord logits(std::uint32_t request, std::uint32_t step, int n, Level level) {
  const float x = static_cast<float>(request % 8 + n);
  LogitsRecord out{};
  out.node = n, out.lse = x, out.entropy = x / 2, out.tail_mass = 0.25F, out.argmax = n + 1;
  out.drafted_logit = n % 2 ? x - 1 : kNan;
  out.drafted_rank = n % 2 ? 3 : std::numeric_limits<std::uint32_t>::max();
  out.emitted_logit = x - 0.5F;
  if (level >= Level::TOPK)  // one short of k: the last place is missing
    for (std::uint32_t i = 0; i < kTopk - 1; ++i)
      out.topk_ids.push_back(i + step), out.topk_values.push_back(x - static_cast<float>(i));
  if (level == Level::FULL)
    for (int i = 0; i < kVocab; ++i) out.full.push_back(x - static_cast<float>(i) / 8);
  return out;
}

inline StepRecord step(std::uint32_t request, std::uint32_t s, Level level) {
  const int n_nodes = nodes(request, s), kept = accepted(request, s);
  StepRecord out;
  out.request_key = key(request), out.batch_id = request * 16ULL + s, out.seq_step = s;
  out.context_len = 10 + 5 * s;
  out.kind = n_nodes == 0 ? StepKind::PLAIN : StepKind::SPECULATIVE;
  out.n_nodes = out.max_depth = out.drafted = static_cast<std::uint16_t>(n_nodes);
  out.accepted_by_rule = static_cast<std::uint16_t>(kept);
  out.committed = out.emitted = static_cast<std::uint16_t>(kept + 1);
  out.expected_accepted = n_nodes == 0 ? kNan : static_cast<float>(kept) + 0.5F;
  out.last_token = token(request, s, 9);
  out.last_kind = n_nodes == 0      ? LastKind::TARGET_SAMPLE
                  : kept == n_nodes ? LastKind::BONUS
                                    : LastKind::RESIDUAL;
  out.draft_stop = n_nodes == 0 ? DraftStop::NONE : DraftStop::POLICY;
  out.draft_fed = n_nodes == 0 ? 0 : 3 + s;
  if (n_nodes > 0) out.budget_nodes = 2 * n_nodes, out.budget_depth = n_nodes + 1;
  if (level == Level::COUNTS) return out;
  for (int n = 1; n <= n_nodes; ++n) {
    out.nodes.push_back(node(request, s, n));
    out.decisions.push_back(
        {static_cast<std::uint16_t>(n), 1, 2, n, 0.5, static_cast<std::uint32_t>(n)});
    out.draft_rows.push_back(logits(request, s, n, level));
  }
  for (int n = 0; n <= n_nodes; ++n) out.target_rows.push_back(logits(request, s, n, level));
  return out;
}

inline BatchRecord batch(std::uint32_t request, std::uint32_t s) {
  BatchRecord out;
  out.batch_id = request * 16ULL + s, out.n_seqs = 1;
  out.n_rows = static_cast<std::uint32_t>(nodes(request, s) + 1);
  out.t_start_ns = 1'000'000LL * request + 1000 * s;
  out.draft_ns = 100 + s, out.target_ns = 500 + s, out.verify_ns = 30, out.sample_ns = 20,
  out.kv_ns = 10;
  out.sched_ns = 5, out.log_ns = 4, out.tokens_ns = 690 + 2 * s, out.total_ns = 700 + 2 * s;
  return out;
}

inline RequestRecord request(std::uint32_t r) {
  RequestRecord out;
  out.request_key = key(r), out.question_id = r + 81,
  out.category = static_cast<std::uint16_t>(r % 2);
  out.turn = static_cast<std::uint8_t>(r % 2), out.repeat = static_cast<std::uint16_t>(r % 3);
  out.seed = 7, out.is_warmup = r == 0;
  for (std::uint32_t i = 0; i < 3 + r % 4; ++i)
    out.prompt_tokens.push_back(static_cast<Token>(r + i));
  for (std::uint32_t s = 0; s < steps(r); ++s) {
    for (int n = 1; n <= accepted(r, s); ++n) out.output_tokens.push_back(token(r, s, n));
    out.output_tokens.push_back(token(r, s, 9));
  }
  out.n_prompt = static_cast<std::uint32_t>(out.prompt_tokens.size());
  out.n_output = static_cast<std::uint32_t>(out.output_tokens.size());
  out.n_steps = steps(r), out.finish_reason = r % 2 ? FinishReason::STOP : FinishReason::LENGTH;
  out.t_arrival_ns = 1'000'000LL * r, out.t_start_ns = out.t_arrival_ns + 10;
  out.t_first_ns = out.t_arrival_ns + 500,
  out.t_end_ns = out.t_arrival_ns + 500 + 700LL * out.n_steps;
  return out;
}

inline Header header(Level level) {
  Header out;
  out.run_id = "6f1f9a52-8d5e-4a59-9b5e-2a6f3f0c1d77", out.cell = "synthetic", out.attempt = 0;
  out.config_yaml = "redline: 1\n", out.config_resolved = "{}",
  out.provenance = "{\"isa\": \"none\"}";
  out.config_sha256 = std::string(64, '0');
  out.level = level, out.topk = kTopk, out.vocab = kVocab;
  out.attributes = {{"/models/target", {{"name", "made-up"}, {"vocab_size", "50"}}},
                    {"/plugins/draft", {{"name", "draft_none"}, {"parameters", "{}"}}},
                    {"/dataset", {{"name", "formula"}, {"rows", "100"}}}};
  out.categories = {"even", "ödd"};
  return out;
}

}  // namespace redline::trace::synthetic
