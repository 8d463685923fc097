// SPDX-License-Identifier: Apache-2.0
// A dense row: one weight a token and a common factor. Mass is summed by blocks once, when the row
// is made, so drawing from it reads one block.
#include <algorithm>
#include <array>
#include <cmath>

#include "api/best.hpp"
#include "api/lanes.hpp"
#include "api/rows.hpp"

namespace redline {
inline namespace v1 {
namespace {

constexpr std::size_t kBlock = 1024;  // tokens

template <class T>
class Dense final : public Row::Source {
 public:
  Dense(List<T> weights, std::optional<double> logs) : weights_(std::move(weights)), logs_(logs) {
    mass_before_.reserve(blocks() + 1);
    mass_before_.push_back(0);
    for (std::size_t b = 0; b < blocks(); ++b) {
      const std::span<const T> w = block(b);
      mass_before_.push_back(mass_before_[b] + lane_sum(w.size(), [&](auto i) { return w[i]; }));
    }
    factor_ = 1 / total();
  }
  double total() const { return mass_before_.back(); }

  std::int32_t vocab() const override { return static_cast<std::int32_t>(weights_.size()); }
  double at(Token t) const override { return weights_[t] * factor_; }
  List<Row::Entry> top(std::size_t m) const override {
    List<Row::Entry> out;
    for (const auto& [token, w] : best_of(std::span<const T>(weights_), m, std::optional<T>(0)))
      out.push_back({token, w * factor_});
    return out;
  }
  double entropy() const override {
    return std::log(total()) - (logs_ ? *logs_ : logs()) * factor_;
  }
  double mass(const Source& q, double w) const override {
    double sum = 0;
    clip(q, w, [&](std::size_t, std::span<const double> left) {
      sum += lane_sum(left.size(), [&](auto i) { return left[i]; });
    });
    return sum;
  }
  Ptr residual(const Source& q, double w) const override {
    List<double> out(weights_.size());
    clip(q, w, [&](std::size_t first, std::span<const double> left) {
      std::copy(left.begin(), left.end(), out.begin() + static_cast<std::ptrdiff_t>(first));
    });
    return dense_row(std::move(out));
  }
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
    const T* w = weights_.data() + first;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = w[i] * factor_;
  }

 private:
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
  // max(0, w p - q), block by block.
  template <class F>
  void clip(const Source& q, double w, F&& each) const {
    std::array<double, kBlock> buffer;
    for (std::size_t b = 0; b < blocks(); ++b) {
      const std::span<const T> p = block(b);
      const std::span<double> left(buffer.data(), p.size());
      q.read(static_cast<Token>(b * kBlock), left);
      for (std::size_t i = 0; i < p.size(); ++i) {
        const double d = w * (p[i] * factor_) - left[i];
        left[i] = d > 0 ? d : 0;
      }
      each(b * kBlock, left);
    }
  }

  List<T> weights_;             // [V]
  std::optional<double> logs_;  // the sum of w ln w, if known
  List<double> mass_before_;    // [blocks + 1], in weights
  double factor_;
};

template <class T>
Row::Source::Ptr make(List<T> weights, std::optional<double> logs = {}) {
  auto row = std::allocate_shared<const Dense<T>>(Recycling<Dense<T>>(), std::move(weights), logs);
  return row->total() > 0 ? row : nullptr;
}

}  // namespace

Row::Source::Ptr dense_row(List<float> weights, std::optional<double> logs) {
  return make(std::move(weights), logs);
}
Row::Source::Ptr dense_row(List<double> weights) { return make(std::move(weights)); }

Row::Source::Ptr without_used(const Row::Source& row, std::span<const Token> used) {
  List<double> left(row.vocab());
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
