// SPDX-License-Identifier: Apache-2.0
#include "step/row_record.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace redline::step {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();

std::vector<std::uint32_t> best(std::span<const float> logits, std::size_t count) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  };
  std::vector<std::uint32_t> heap;  // the worst of the best so far in front
  count = std::min(count, logits.size());
  for (std::uint32_t t = 0; t < logits.size() && count > 0; ++t) {
    if (logits[t] == -std::numeric_limits<float>::infinity()) continue;  // it cannot come
    if (heap.size() == count) {
      if (!before(t, heap.front())) continue;
      std::pop_heap(heap.begin(), heap.end(), before);
      heap.pop_back();
    }
    heap.push_back(t);
    std::push_heap(heap.begin(), heap.end(), before);
  }
  std::sort_heap(heap.begin(), heap.end(), before);
  return heap;
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

float margin(std::span<const float> logits, Token token) {
  float other = -std::numeric_limits<float>::infinity();
  const auto at = static_cast<std::size_t>(token);
  for (std::size_t t = 0; t < at; ++t) other = std::max(other, logits[t]);
  for (std::size_t t = at + 1; t < logits.size(); ++t) other = std::max(other, logits[t]);
  return logits[at] - other;
}

trace::LogitsRecord RowRecorder::record(Node node, std::span<const float> logits, Token drafted,
                                        Token emitted) {
  const auto vocab = static_cast<std::int64_t>(logits.size());
  p_.resize(logits.size());
  const double sum = ops_.softmax(logits.data(), vocab, p_.data());
  const auto top = ops_.argmax(logits.data(), vocab);
  const double lse = logits[top] - std::log(p_[top] / sum);
  double mean = 0;  // of the logit, under p
  for (std::size_t t = 0; t < p_.size(); ++t) mean += p_[t] > 0 ? double{p_[t]} * logits[t] : 0;
  trace::LogitsRecord r{};
  r.node = node;
  r.lse = static_cast<float>(lse);
  r.entropy = static_cast<float>(lse - mean / sum);
  r.argmax = static_cast<Token>(top);
  r.drafted_logit = drafted == kNone ? kUnknown : logits[drafted];
  r.drafted_rank = drafted == kNone ? kNoRank : rank_of(logits, drafted);
  r.emitted_logit = emitted == kNone ? kUnknown : logits[emitted];
  r.tail_mass = kUnknown;
  if (level_ >= trace::Level::TOPK) {
    r.topk_ids = best(logits, static_cast<std::size_t>(topk_));
    double held = 0;
    for (const std::uint32_t t : r.topk_ids) {
      r.topk_values.push_back(logits[t]);
      held += p_[t] / sum;
    }
    r.tail_mass = static_cast<float>(std::max(0.0, 1 - held));
  }
  if (level_ == trace::Level::FULL) r.full.assign(logits.begin(), logits.end());
  return r;
}

}  // namespace redline::step
