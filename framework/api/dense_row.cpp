// SPDX-License-Identifier: Apache-2.0
// A dense row: one weight a token and a common factor. Blocks are summed and their greatest found
// once, when the row is made, so drawing from it reads one block, and so does its argmax.
#include <algorithm>
#include <array>
#include <cmath>

#include "api/best.hpp"
#include "api/lanes.hpp"
#include "api/rows.hpp"
#include "redline/kernels/probabilities.hpp"

namespace redline {
inline namespace v1 {
namespace {

constexpr std::size_t kBlock = 1024;  // tokens

template <class T>
const kernels::WeightOps<T>& passes() {
  static const kernels::ProbabilityOps& ops = kernels::probability_ops(kernels::best());
  if constexpr (std::is_same_v<T, float>)
    return ops.floats;
  else
    return ops.doubles;
}

template <class T>
class Dense;

template <class T, class... From>
Row::Source::Ptr made(From&&... from) {
  auto row =
      std::allocate_shared<const Dense<T>>(Recycling<Dense<T>>(), std::forward<From>(from)...);
  return row->total() > 0 ? row : nullptr;
}

template <class T>
class Dense final : public Row::Source {
 public:
  Dense(Weights<T> weights, std::optional<double> logs)
      : weights_(std::move(weights)), logs_(logs) {
    sum_blocks(
        [&](std::size_t b) { return passes<T>().sum(block(b).data(), std::ssize(block(b))); });
  }
  // max(0, w p - q), summed block by block while it is made.
  template <class P>
  Dense(const Dense<P>& p, const Source& q, double w) : weights_(p.weights_.size()) {
    sum_blocks([&](std::size_t b) { return p.clip(b, q, w, weights_.data() + b * kBlock); });
  }
  double total() const { return mass_before_.back(); }

  std::int32_t vocab() const override { return static_cast<std::int32_t>(weights_.size()); }
  double at(Token t) const override { return weights_[t] * factor_; }
  List<Row::Entry> top(std::size_t m) const override {
    if (m == 1) return best();
    List<Row::Entry> out;
    for (const auto& [token, w] : best_of(std::span<const T>(weights_), m, std::optional<T>(0)))
      out.push_back({token, w * factor_});
    return out;
  }
  double entropy() const override {
    return std::log(total()) - (logs_ ? *logs_ : logs()) * factor_;
  }
  double mass(const Source& q, double w) const override {
    std::array<double, kBlock> buffer;
    double sum = 0;
    for (std::size_t b = 0; b < blocks(); ++b) sum += clip(b, q, w, buffer.data());
    return sum;
  }
  Ptr residual(const Source& q, double w) const override { return made<double>(*this, q, w); }
  Ptr without(std::span<const Token> used) const override { return without_used(*this, used); }
  Token pick(double u) const override {
    const double goal = u * total();
    auto b = std::upper_bound(mass_before_.begin() + 1, mass_before_.end(), goal);
    if (b == mass_before_.end()) b = std::lower_bound(mass_before_.begin() + 1, b, total());
    double left = goal - *(b - 1);
    const std::size_t first = (b - 1 - mass_before_.begin()) * kBlock;
    Token last = kNone;  // rounding may leave some of `left`: then the block's last token
    for (std::size_t i = first; i < std::min(first + kBlock, weights_.size()); ++i) {
      if (!(weights_[i] > 0)) continue;
      last = static_cast<Token>(i);
      if ((left -= weights_[i]) < 0) break;
    }
    return last;
  }
  std::vector<float> to_dense() const override {
    std::vector<float> out(weights_.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(weights_[i] * factor_);
    return out;
  }
  void read(Token first, std::span<double> out) const override {
    passes<T>().scale(weights_.data() + first, std::ssize(out), factor_, out.data());
  }

 private:
  template <class P>
  friend class Dense;

  List<Row::Entry> best() const {  // only the first block that holds the greatest is searched
    const auto most = std::max_element(largest_.begin(), largest_.end());
    const auto b = static_cast<std::size_t>(most - largest_.begin());
    const std::span<const T> w = block(b);
    const auto at = std::find(w.begin(), w.end(), *most) - w.begin();
    return {{static_cast<Token>(b * kBlock) + static_cast<Token>(at), *most * factor_}};
  }
  double logs() const {
    return lane_sum(weights_.size(), [&](auto i) {
      const double w = weights_[i];
      return w > 0 ? w * std::log(w) : 0;
    });
  }
  std::size_t blocks() const { return (weights_.size() + kBlock - 1) / kBlock; }
  std::span<const T> block(std::size_t b) const {
    const std::span<const T> all = weights_;
    return all.subspan(b * kBlock, std::min(kBlock, all.size() - b * kBlock));
  }
  template <class SumOf>
  void sum_blocks(SumOf&& sum_of) {
    mass_before_.reserve(blocks() + 1);
    largest_.reserve(blocks());
    mass_before_.push_back(0);
    for (std::size_t b = 0; b < blocks(); ++b) {
      mass_before_.push_back(mass_before_[b] + sum_of(b));
      largest_.push_back(passes<T>().largest(block(b).data(), std::ssize(block(b))));
    }
    factor_ = 1 / total();
  }
  // max(0, w p - q) of a block; returns its sum.
  double clip(std::size_t b, const Source& q, double w, double* out) const {
    const std::span<const T> p = block(b);
    q.read(static_cast<Token>(b * kBlock), {out, p.size()});
    return passes<T>().clip(p.data(), std::ssize(p), factor_, w, out);
  }

  Weights<T> weights_;          // [V]
  std::optional<double> logs_;  // the sum of w ln w, if known
  List<double> mass_before_;    // [blocks + 1], in weights
  List<T> largest_;             // [blocks]
  double factor_;
};

}  // namespace

Row::Source::Ptr dense_row(Weights<float> weights, std::optional<double> logs) {
  return made<float>(std::move(weights), logs);
}
Row::Source::Ptr dense_row(Weights<double> weights) {
  return made<double>(std::move(weights), std::optional<double>());
}
Row softmax_row(Weights<float> p, double entropy) {
  const Row::Source::Ptr row = dense_row(std::move(p), -entropy);
  const double sum = row ? static_cast<const Dense<float>&>(*row).total() : 0;
  if (!(std::abs(sum - 1) <= 1e-4))
    throw Error("row: its softmax sums to " + std::to_string(sum) + ", must be 1 within 1e-4");
  return Row(row);
}

Row::Source::Ptr without_used(const Row::Source& row, std::span<const Token> used) {
  Weights<double> left(row.vocab());
  row.read(0, left);
  for (const Token t : used) left.at(t) = 0;
  if (auto rest = dense_row(left)) return rest;
  std::fill(left.begin(), left.end(), 1.0);
  for (const Token t : used) left[t] = 0;
  if (auto uniform = dense_row(std::move(left))) return uniform;
  throw Error("without: all " + std::to_string(row.vocab()) +
              " tokens of the vocabulary are used; ask for fewer siblings");
}

}  // namespace v1
}  // namespace redline
