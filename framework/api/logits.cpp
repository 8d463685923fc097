// SPDX-License-Identifier: Apache-2.0
#include "redline/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "api/best.hpp"
#include "api/exponential.hpp"
#include "api/lanes.hpp"
#include "api/rows.hpp"

namespace redline {
inline namespace v1 {
namespace {

constexpr float kBanned = -std::numeric_limits<float>::infinity();

// Each x becomes w = exp(x - highest), exactly 0 for a banned token and where float32 would be
// denormal. Returns the sum of w ln w, whose logarithm is at hand only here. Selects instead of
// branching, so that it vectorises.
double weigh(std::span<float> x) {
  const float high = largest_of(std::span<const float>(x));
  if (high == kBanned) throw Error("logits: every token is banned");
  return lane_sum(x.size(), [&](auto i) {
    const double log = double{x[i]} - high, held = log < -87 ? -87 : log;
    const double e = exp_of(held), w = log < -87 ? 0 : e;
    x[i] = static_cast<float>(w);
    return w * held;
  });
}

bool is_usable(float x) { return x < std::numeric_limits<float>::infinity(); }  // false for NaN

void check(std::span<const float> values) {
  const double wrong =
      lane_sum(values.size(), [&](auto i) { return is_usable(values[i]) ? 0 : 1; });
  if (wrong == 0) return;
  const auto it = std::find_if_not(values.begin(), values.end(), is_usable);
  throw Error("logits: value of token " + std::to_string(it - values.begin()) + " is " +
              std::to_string(*it) + " (" + std::to_string(static_cast<std::int64_t>(wrong)) +
              " such); each must be a number below infinity");
}

struct Cut {  // kept: greater weights, and as great ones up to a place
  float weight;
  std::size_t place;
};

// The places of weights of [from, below) that are `least` or 1, the better first.
void sort_shell(std::span<const float> w, std::span<const float> maxima, double least, float from,
                float below, List<std::size_t>& shell) {
  shell.clear();
  for (std::size_t b = 0; b < maxima.size(); ++b) {
    if (maxima[b] < from) continue;
    for (std::size_t i = b * kBestBlock; i < std::min((b + 1) * kBestBlock, w.size()); ++i)
      if (w[i] >= from && w[i] < below && (w[i] >= least || w[i] == 1)) shell.push_back(i);
  }
  std::sort(shell.begin(), shell.end(),
            [&](auto a, auto b) { return w[a] != w[b] ? w[a] > w[b] : a < b; });
}

// Where the fewest best weights that hold `goal` end, of equal ones the first counting as better;
// at least one is kept. The greatest weight is 1; all that are cut hold `spare` at most. Most rows
// keep few: so weights are sorted in shells, from the greatest down, until the goal is held.
Cut cut_holding(std::span<const float> w, double goal, double spare) {
  constexpr float kShell = 1.0F / 16;
  // Weights below this hold less than `spare` together: the cut lies above them.
  const double least = spare / static_cast<double>(w.size());
  const List<float> maxima = maxima_of(w);
  Cut cut{};
  List<std::size_t> shell;
  double held = 0;
  const auto is_held = [&] { return held > 0 && held >= goal; };
  for (float below = 2, from = kShell; below > least && !is_held(); below = from, from *= kShell) {
    sort_shell(w, maxima, least, from, below, shell);
    for (std::size_t k = 0; k < shell.size() && !is_held(); ++k) {
      cut = {w[shell[k]], shell[k]};
      held += cut.weight;
    }
  }
  return cut;
}

}  // namespace

Logits::Logits(std::vector<float> values) : own_(std::move(values)), values_(own_), work_(own_) {
  check(values_);
}
Logits::Logits(std::span<float> values) : values_(values), work_(values) { check(values_); }

std::span<float> Logits::edit() {
  if (values_.data() != work_.data()) std::copy(values_.begin(), values_.end(), work_.begin());
  values_ = work_;
  return work_;
}
Logits::Logits(std::span<float> values, List<Token> kept)
    : values_(values), work_(values), kept_(std::move(kept)) {
  for (const Token t : kept_)
    if (t < 0 || t >= vocab() || !is_usable(values_[t]))
      throw Error("logits: token " + std::to_string(t) + " of " + std::to_string(vocab()) +
                  " must have a number below infinity");
}

template <class F>
void Logits::for_each(F&& visit) const {
  if (kept_.empty()) {
    for (Token t = 0; t < vocab(); ++t) visit(t, values_[t]);
  } else {
    for (const Token t : kept_) visit(t, values_[t]);
  }
}

float Logits::at(Token token) const {
  if (token < 0 || token >= vocab())
    throw Error("logits: token " + std::to_string(token) +
                " is not below V = " + std::to_string(vocab()));
  const bool is_kept = kept_.empty() || std::binary_search(kept_.begin(), kept_.end(), token);
  return is_kept ? values_[token] : kBanned;
}
void Logits::set(Token token, float value) {
  const float before = at(token);
  if (!is_usable(value))
    throw Error("logits: set of token " + std::to_string(token) + " to " + std::to_string(value) +
                "; must be a number below infinity");
  const bool is_better = banned_.token == kNone || before > banned_.value ||
                         (before == banned_.value && token < banned_.token);
  if (value == kBanned && before > kBanned && is_better) banned_ = {token, before};
  edit()[token] = value;
}
void Logits::add(Token token, float delta) { set(token, at(token) + delta); }
void Logits::ban(Token token) { set(token, kBanned); }
void Logits::scale(float factor) {
  if (!(factor > 0) || !is_usable(factor))
    throw Error("logits: scale by " + std::to_string(factor) + "; must be above 0 and finite");
  if (kept_.empty()) {
    for (std::size_t t = 0; t < work_.size(); ++t) work_[t] = values_[t] * factor;
    values_ = work_;
  } else {
    for (const Token t : kept_) edit()[t] *= factor;
  }
}

List<Token> Logits::best(std::size_t count) const {
  List<float> x;
  for (const Token t : kept_) x.push_back(values_[t]);
  const std::span<const float> support = kept_.empty() ? values_ : std::span<const float>(x);
  List<Token> out;
  for (const auto& [at, value] : best_of(support, count, std::optional(kBanned)))
    out.push_back(kept_.empty() ? at : kept_[at]);
  return out;
}
void Logits::keep_top(std::size_t count) {
  const std::size_t support = kept_.empty() ? values_.size() : kept_.size();
  if (count >= support) return;
  kept_ = best(std::max<std::size_t>(count, 1));
  std::sort(kept_.begin(), kept_.end());
}
void Logits::keep_argmax() { keep_top(1); }
List<float> Logits::weights() const {
  List<float> x;
  if (kept_.empty()) x.assign(values_.begin(), values_.end());
  for (const Token t : kept_) x.push_back(values_[t]);
  weigh(x);
  return x;
}
void Logits::keep_min_p(double share) {
  const List<float> w = weights();
  keep_if([&](std::size_t i) { return w[i] == 1 || (w[i] > 0 && w[i] >= share); });
}
void Logits::keep_top_p(double mass) {
  if (mass >= 1) return;
  const List<float> w = weights();
  const double total = lane_sum(w.size(), [&](auto i) { return w[i]; });
  const Cut cut = cut_holding(w, mass * total, (1 - mass) * total);
  keep_if(
      [&](std::size_t i) { return w[i] > cut.weight || (w[i] == cut.weight && i <= cut.place); });
}
template <class F>
void Logits::keep_if(F&& wanted) {  // by place in the support
  List<Token> left;
  std::size_t i = 0;
  for_each([&](Token t, float) {
    if (wanted(i++)) left.push_back(t);
  });
  kept_ = std::move(left);
}
std::span<float> Logits::values() {
  const std::span<float> out = edit();
  if (!kept_.empty()) {
    auto next = kept_.begin();
    for (Token t = 0; t < vocab(); ++t) {
      if (next != kept_.end() && *next == t)
        ++next;
      else
        out[t] = kBanned;
    }
    kept_.clear();
  }
  is_raw_ = true;
  return out;
}

std::optional<Token> Logits::single() const {
  return kept_.size() == 1 ? std::optional(kept_.front()) : std::nullopt;
}
Row Logits::row() const {
  if (const auto token = single()) return Row::point(vocab(), *token);
  if (kept_.empty()) {
    Weights<float> w(values_.begin(), values_.end());
    const double logs = weigh(w);
    return Row(dense_row(std::move(w), logs));
  }
  const List<float> w = weights();
  List<Row::Entry> entries;
  for (std::size_t i = 0; i < w.size(); ++i) entries.push_back({kept_[i], w[i]});
  return Row(sparse_row(vocab(), std::move(entries)));
}

bool Logits::is_empty() const {
  const auto is_banned = [](float x) { return x == kBanned; };
  return kept_.empty() ? std::all_of(values_.begin(), values_.end(), is_banned)
                       : std::all_of(kept_.begin(), kept_.end(),
                                     [&](Token t) { return is_banned(values_[t]); });
}
void Logits::open_link() { banned_ = {}, is_raw_ = false; }
void Logits::close_link() {
  if (is_raw_) check(values_);
  if (!is_empty()) return;
  if (banned_.token == kNone) throw Error("logits: no token is allowed any more");
  edit()[banned_.token] = banned_.value;
}

}  // namespace v1
}  // namespace redline
