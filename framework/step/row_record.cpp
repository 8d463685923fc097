// SPDX-License-Identifier: Apache-2.0
#include "step/row_record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/best.hpp"

namespace redline::step {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

// Tokens that cannot come are left out.
BestList<float> best(const kernels::Ops& ops, std::span<const float> logits, std::size_t count) {
  static_assert(kBestBlock == kernels::kMaximaBlock);
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  List<float> maxima((logits.size() + kBestBlock - 1) / kBestBlock);
  ops.block_maxima(logits.data(), std::ssize(logits), maxima.data());
  return best_of(logits, std::span<const float>(maxima), count, std::optional(kNothing));
}

// rank_of for a token that is probably among the best.
std::uint32_t rank_among(const BestList<float>& best, std::span<const float> logits, Token token) {
  const auto at = std::ranges::find(best, token, &BestList<float>::value_type::first);
  return at != best.end() ? static_cast<std::uint32_t>(at - best.begin()) : rank_of(logits, token);
}

}  // namespace

std::uint32_t rank_of(std::span<const float> logits, Token token) {
  const float value = logits[token];
  const auto at = static_cast<std::size_t>(token);
  std::uint32_t better = 0;
  for (std::size_t t = 0; t < at; ++t) better += logits[t] >= value ? 1 : 0;
  for (std::size_t t = at + 1; t < logits.size(); ++t) better += logits[t] > value ? 1 : 0;
  return better;
}

float RowRecorder::margin(std::span<const float> logits, Token token) const {
  for (const auto& [other, value] : best(ops_, logits, 2))
    if (other != token) return logits[token] - value;
  return std::numeric_limits<float>::infinity();  // no other can come
}

trace::LogitsRecord RowRecorder::record(const TracedRow& row) const {
  const kernels::Spread spread = ops_.spread(row.logits.data(), std::ssize(row.logits));
  const bool is_topk = level() >= trace::Level::TOPK;
  const BestList<float> most = best(ops_, row.logits, is_topk ? wanted_.topk : 1);
  trace::LogitsRecord r{};
  r.node = row.node;
  r.lse = static_cast<float>(spread.log_sum_exp);
  r.entropy = static_cast<float>(spread.entropy);
  r.argmax = most.front().first;
  r.drafted_logit = row.drafted == kNone ? kUnknown : row.logits[row.drafted];
  r.drafted_rank = row.drafted == kNone ? kNoRank : rank_among(most, row.logits, row.drafted);
  r.emitted_logit = row.emitted == kNone ? kUnknown : row.logits[row.emitted];
  r.tail_mass = kUnknown;
  if (is_topk) {
    double held = 0;
    for (const auto& [token, logit] : most) {
      r.topk_ids.push_back(static_cast<std::uint32_t>(token));
      r.topk_values.push_back(logit);
      held += std::exp(logit - spread.log_sum_exp);
    }
    r.tail_mass = static_cast<float>(std::max(0.0, 1 - held));
  }
  if (level() == trace::Level::FULL) r.full.assign(row.logits.begin(), row.logits.end());
  return r;
}

}  // namespace redline::step
