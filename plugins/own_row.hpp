// SPDX-License-Identifier: Apache-2.0
// A row a rule has worked out itself, in float64: rounded to float32 it would no longer be the law
// that the rule's losslessness rests on.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "redline/row.hpp"

namespace {

class OwnRow final : public redline::Row::Source {
 public:
  using Token = redline::Token;
  using Entry = redline::Row::Entry;
  explicit OwnRow(std::vector<double> p) : p_(std::move(p)) {}  // sums to 1
  // norm(weights), or null when nothing is left of them.
  static Ptr make(std::vector<double> weights) {
    double sum = 0;
    for (const double w : weights) sum += w;
    if (!(sum > 0)) return nullptr;
    for (double& w : weights) w /= sum;
    return std::make_shared<const OwnRow>(std::move(weights));
  }

  std::int32_t vocab() const override { return static_cast<std::int32_t>(p_.size()); }
  double at(Token t) const override { return p_.at(t); }
  redline::List<Entry> top(std::size_t m) const override {
    redline::List<Entry> all;
    for (Token t = 0; t < vocab(); ++t)
      if (p_[t] > 0) all.push_back({t, p_[t]});
    std::stable_sort(all.begin(), all.end(),
                     [](const Entry& a, const Entry& b) { return a.p > b.p; });
    all.resize(std::min(m, all.size()));
    return all;
  }
  double entropy() const override {
    double h = 0;
    for (const double p : p_) h -= p > 0 ? p * std::log(p) : 0;
    return h;
  }
  double mass(const Source& q, double w) const override {
    double sum = 0;
    for (const double d : over(q, w)) sum += d;
    return sum;
  }
  Ptr residual(const Source& q, double w) const override { return make(over(q, w)); }
  Ptr without(std::span<const Token> used) const override {
    std::vector<double> left = p_, free(p_.size(), 1.0);
    for (const Token t : used) left.at(t) = free.at(t) = 0;
    const Ptr rest = make(std::move(left));
    return rest ? rest : make(std::move(free));
  }
  Token pick(double u) const override {
    Token last = redline::kNone;
    for (Token t = 0; t < vocab(); ++t) {
      if (!(p_[t] > 0)) continue;
      last = t;
      if ((u -= p_[t]) < 0) break;
    }
    return last;
  }
  std::vector<float> to_dense() const override { return {p_.begin(), p_.end()}; }
  void read(Token first, std::span<double> out) const override {
    std::copy_n(p_.begin() + first, out.size(), out.begin());
  }

 private:
  std::vector<double> over(const Source& q, double w) const {  // max(0, w p - q)
    std::vector<double> out(p_.size());
    q.read(0, out);
    for (std::size_t t = 0; t < out.size(); ++t) out[t] = std::max(0.0, w * p_[t] - out[t]);
    return out;
  }
  std::vector<double> p_;  // [V]
};

inline std::vector<double> numbers(const redline::Row& row) {  // [V]
  std::vector<double> out(row.vocab());
  row.read(0, out);
  return out;
}

}  // namespace
