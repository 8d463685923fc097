// SPDX-License-Identifier: Apache-2.0
#include "experiment/summary.hpp"

#include <algorithm>
#include <limits>

#include "experiment/metrics.hpp"

namespace redline::experiment {
namespace {

using config::Value;
constexpr double kNsPerMs = 1e6, kNsPerS = 1e9;

struct Latencies {  // ms
  std::vector<double> ttft, tpot, itl, e2el;
  std::vector<double> token;  // each step's gap divided by what it emitted, once for each token
};

Latencies latencies_of(std::span<const Finished> requests) {
  Latencies l;
  for (const Finished& r : requests) {
    if (r.times.empty()) continue;
    const double first = r.times.front().end_ns / kNsPerMs, last = r.times.back().end_ns / kNsPerMs;
    l.ttft.push_back(first);
    l.e2el.push_back(last);
    if (r.tokens.size() > 1)
      l.tpot.push_back((last - first) / static_cast<double>(r.tokens.size() - 1));
    for (std::size_t i = 1; i < r.times.size(); ++i) {
      const double gap = static_cast<double>(r.times[i].end_ns - r.times[i - 1].end_ns) / kNsPerMs;
      l.itl.push_back(gap);
      l.token.insert(l.token.end(), r.times[i].emitted, gap / std::max(1, r.times[i].emitted));
    }
  }
  return l;
}

// The time in which at least one request was under way; pauses between requests are left out, and
// each attempt has a clock of its own.
double busy_seconds(std::span<const Finished> requests) {
  struct Span {
    std::int32_t attempt;
    std::int64_t begin_ns, end_ns;
    auto operator<=>(const Span&) const = default;
  };
  std::vector<Span> spans;
  for (const Finished& r : requests)
    if (!r.times.empty())
      spans.push_back({r.attempt, r.start_ns, r.start_ns + r.times.back().end_ns});
  std::ranges::sort(spans);
  std::int64_t busy_ns = 0, reached_ns = 0;
  for (std::size_t k = 0; k < spans.size(); ++k) {
    if (k == 0 || spans[k].attempt != spans[k - 1].attempt) reached_ns = spans[k].begin_ns;
    busy_ns += std::max<std::int64_t>(0, spans[k].end_ns - std::max(spans[k].begin_ns, reached_ns));
    reached_ns = std::max(reached_ns, spans[k].end_ns);
  }
  return static_cast<double>(busy_ns) / 1e9;
}

void put_latency(Value& into, const std::string& name, const std::vector<double>& values) {
  into.put("mean_" + name, Value::of(mean(values)));
  into.put("median_" + name, Value::of(percentile(values, 50)));
  into.put("std_" + name, Value::of(standard_deviation(values)));
  for (const int percent : {50, 95, 99})
    into.put("p" + std::to_string(percent) + "_" + name, Value::of(percentile(values, percent)));
}

Value list_of(const std::vector<double>& values) {
  Value list = Value::list_of({});
  for (const double v : values) list.items.push_back(Value::of(v));
  return list;
}
Value list_of(const std::vector<std::uint64_t>& values) {
  Value list = Value::list_of({});
  for (const std::uint64_t v : values) list.items.push_back(Value::of(v));
  return list;
}

Acceptance acceptance_of_requests(std::span<const Finished> requests) {
  std::vector<RequestSteps> steps;
  for (const Finished& r : requests) {
    const std::uint64_t prefill = r.times.empty() ? 0 : r.times.front().emitted;
    steps.push_back({r.drafted_per_step, r.accepted_per_step, r.counts.steps,
                     r.counts.committed - prefill, r.counts.emitted - prefill, r.tokens.size()});
  }
  return acceptance_of(steps);
}

void put_counts(Value& spec, const Acceptance& a) {
  spec.put("steps", Value::of(a.steps)).put("drafting_steps", Value::of(a.drafting_steps));
  spec.put("drafted", Value::of(a.drafted)).put("accepted_by_rule", Value::of(a.accepted));
  spec.put("committed", Value::of(a.committed)).put("emitted", Value::of(a.emitted));
  spec.put("wasted_after_stop", Value::of(a.wasted_after_stop));
}

void put_lengths(Value& spec, const Acceptance& a) {
  spec.put("mean_acceptance_length", Value::of(a.mean_acceptance_length));
  spec.put("mean_accepted_draft_tokens", Value::of(a.mean_accepted_draft_tokens));
  spec.put("mat_micro", Value::of(a.mat_micro)).put("al_macro", Value::of(a.al_macro));
  spec.put("block_efficiency", Value::of(a.block_efficiency));
  spec.put("eagle_tau", Value::of(a.eagle_tau));
  spec.put("sglang_accept_length", Value::of(a.sglang_accept_length));
  spec.put("specdec_bench_al", Value::of(a.specdec_bench_al));
  spec.put("draft_acceptance_rate", Value::of(a.draft_acceptance_rate));
  spec.put("sglang_log_accept_rate", Value::of(a.sglang_log_accept_rate));
  spec.put("system_efficiency", Value::of(a.system_efficiency));
  spec.put("accepted_per_verified", Value::of(a.accepted_per_verified));
  spec.put("draft_coverage", Value::of(a.draft_coverage));
  spec.put("mean_draft_length", Value::of(a.mean_draft_length));
  spec.put("acceptance_at_pos", list_of(a.acceptance_at_pos));
  spec.put("conditional_acceptance", list_of(a.conditional_acceptance));
  spec.put("acceptance_histogram", list_of(a.acceptance_histogram));
  Value by_length = Value::map();
  for (std::size_t l = 0; l < a.histogram_by_draft_length.size(); ++l)
    if (!a.histogram_by_draft_length[l].empty())
      by_length.put(std::to_string(l), list_of(a.histogram_by_draft_length[l]));
  spec.put("acceptance_histogram_by_draft_length", std::move(by_length));
}

// Of the time between a request's first token and its last.
void put_shares(Value& spec, std::span<const Finished> requests) {
  double decode = 0, draft = 0, target = 0, verify = 0, sample = 0, kv = 0;
  for (const Finished& r : requests) {
    if (!r.times.empty()) decode += r.times.back().end_ns - r.times.front().end_ns;
    draft += r.draft_ns, target += r.target_ns, verify += r.verify_ns;
    sample += r.sample_ns, kv += r.kv_ns;
  }
  const auto share = [&](double ns) {
    return Value::of(decode > 0 ? ns / decode : std::numeric_limits<double>::quiet_NaN());
  };
  spec.put("draft_share", share(draft)).put("target_share", share(target));
  spec.put("verify_share", share(verify)).put("sample_share", share(sample));
  spec.put("kv_share", share(kv)).put("decode_seconds", Value::of(decode / kNsPerS));
}

void put_vllm_spec(Value& summary, const Acceptance& a) {
  if (a.drafting_steps == 0) return;  // vLLM writes these of speculative runs alone
  summary.put("spec_decode_acceptance_rate", Value::of(100 * a.draft_acceptance_rate));
  summary.put("spec_decode_acceptance_length", Value::of(a.mean_acceptance_length));
  summary.put("spec_decode_num_drafts", Value::of(a.drafting_steps));
  summary.put("spec_decode_draft_tokens", Value::of(a.drafted));
  summary.put("spec_decode_accepted_tokens", Value::of(a.accepted));
  summary.put("spec_decode_per_position_acceptance_rates", list_of(a.acceptance_at_pos));
}

// Nothing where no answer is scored.
std::vector<double> scores_of(std::span<const Finished> requests) {
  std::vector<double> scores;
  for (const Finished& r : requests)
    if (r.score) scores.push_back(*r.score);
  return scores;
}

}  // namespace

Value summary_of(std::span<const Finished> requests) {
  std::vector<Finished> good;
  std::int64_t failed = 0, input = 0, output = 0;
  for (const Finished& r : requests) {
    if (r.is_warmup) continue;
    failed += r.failed();
    if (r.failed()) continue;
    input += r.num_prompt;
    output += static_cast<std::int64_t>(r.tokens.size());
    good.push_back(r);
  }
  const Latencies latencies = latencies_of(good);
  const double duration = busy_seconds(good);
  const auto rate = [&](double count) {
    return Value::of(duration > 0 ? count / duration : std::numeric_limits<double>::quiet_NaN());
  };
  Value summary = Value::map();
  summary.put("duration", Value::of(duration)).put("completed", Value::of(good.size()));
  summary.put("failed", Value::of(failed)).put("total_input_tokens", Value::of(input));
  summary.put("total_output_tokens", Value::of(output))
      .put("request_throughput", rate(good.size()));
  summary.put("output_throughput", rate(output))
      .put("total_token_throughput", rate(input + output));
  put_latency(summary, "ttft_ms", latencies.ttft);
  put_latency(summary, "tpot_ms", latencies.tpot);
  put_latency(summary, "itl_ms", latencies.itl);
  put_latency(summary, "e2el_ms", latencies.e2el);
  const Acceptance a = acceptance_of_requests(good);
  put_vllm_spec(summary, a);
  Value spec = Value::map();
  put_counts(spec, a);
  put_lengths(spec, a);
  put_latency(spec, "token_latency_ms", latencies.token);
  put_shares(spec, good);
  if (const std::vector<double> scores = scores_of(good); !scores.empty())
    summary.put("mean_score", Value::of(mean(scores)));
  return summary.put("spec", std::move(spec));
}

}  // namespace redline::experiment
