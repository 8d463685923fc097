// SPDX-License-Identifier: Apache-2.0
// A sparse row: the tokens with mass, by id. A point is one of them.
#include <algorithm>
#include <cmath>

#include "api/rows.hpp"

namespace redline {
inline namespace v1 {
namespace {

using Entries = List<Row::Entry>;

bool is_before(const Row::Entry& e, Token t) { return e.token < t; }

class Sparse final : public Row::Source {
 public:
  Sparse(std::int32_t vocab, Entries rising) : vocab_(vocab), entries_(std::move(rising)) {}

  std::int32_t vocab() const override { return vocab_; }
  double at(Token t) const override {
    const auto it = std::lower_bound(entries_.begin(), entries_.end(), t, is_before);
    return it != entries_.end() && it->token == t ? it->p : 0;
  }
  Entries top(std::size_t m) const override {
    Entries out = entries_;
    std::erase_if(out, [](const Row::Entry& e) { return !(e.p > 0); });
    m = std::min(m, out.size());
    std::partial_sort(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(m), out.end(),
                      [](const Row::Entry& a, const Row::Entry& b) {
                        return a.p != b.p ? a.p > b.p : a.token < b.token;
                      });
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(m), out.end());
    return out;
  }
  double entropy() const override {
    double h = 0;
    for (const auto& [token, p] : entries_) h -= p > 0 ? p * std::log(p) : 0;
    return h;
  }
  double mass(const Source& q, double w) const override {
    double sum = 0;
    for (const auto& [token, p] : entries_) sum += std::max(0.0, w * p - q.at(token));
    return sum;
  }
  Ptr residual(const Source& q, double w) const override {
    Entries left = entries_;
    for (auto& [token, p] : left) p = std::max(0.0, w * p - q.at(token));
    return sparse_row(vocab_, std::move(left));
  }
  Ptr without(std::span<const Token> used) const override {
    Entries left = entries_;
    std::erase_if(left, [&](const Row::Entry& e) {
      return std::find(used.begin(), used.end(), e.token) != used.end();
    });
    auto rest = sparse_row(vocab_, std::move(left));
    return rest ? rest : without_used(*this, used);
  }
  Token pick(double u) const override {
    Token last = kNone;
    for (const auto& [token, p] : entries_) {
      if (!(p > 0)) continue;
      last = token;
      if ((u -= p) < 0) break;
    }
    return last;
  }
  std::vector<float> to_dense() const override {
    std::vector<float> out(vocab_, 0.0F);
    for (const auto& [token, p] : entries_) out[token] = static_cast<float>(p);
    return out;
  }
  void read(Token first, std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 0.0);
    const Token end = first + static_cast<Token>(out.size());
    auto it = std::lower_bound(entries_.begin(), entries_.end(), first, is_before);
    for (; it != entries_.end() && it->token < end; ++it) out[it->token - first] = it->p;
  }

 private:
  std::int32_t vocab_;
  Entries entries_;  // sums to 1
};

}  // namespace

Row::Source::Ptr sparse_row(std::int32_t vocab, Entries rising) {
  double sum = 0;
  for (const auto& [token, p] : rising) sum += p;
  if (!(sum > 0)) return nullptr;
  for (auto& [token, p] : rising) p /= sum;
  return std::allocate_shared<const Sparse>(Recycling<Sparse>(), vocab, std::move(rising));
}

}  // namespace v1
}  // namespace redline
