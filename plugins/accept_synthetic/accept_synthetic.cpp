// SPDX-License-Identifier: Apache-2.0
// Acceptance to order, to study cost apart from quality: whatever the tokens, so many are kept.
#include <charconv>
#include <cmath>

#include "redline/plugin.hpp"

namespace {

using redline::Node;

std::vector<double> parse(const std::string& text) {
  std::vector<double> rates;
  const char *at = text.data(), *const end = at + text.size();
  for (;;) {
    while (at != end && *at == ' ') ++at;
    double rate = 0;
    const auto [after, error] = std::from_chars(at, end, rate);
    if (error != std::errc{} || !(rate >= 0 && rate <= 1) || (after != end && *after != ','))
      throw redline::InputError("accept_synthetic: rates '" + text +
                                "' has no chance of 0 to 1 at character " +
                                std::to_string(at - text.data()) + "; write e.g. 0.9, 0.8");
    rates.push_back(rate);
    if (after == end) return rates;
    at = after + 1;
  }
}

class Synthetic final : public redline::AcceptanceRule {
 public:
  struct Params {
    std::string rates = "0.8";
    double length = -1;
    void visit(redline::ParameterVisitor& v) {
      v("rates", rates, "chance to keep the token at depth 1, 2, ..; the last goes on");
      v("length", length, {-1, 64}, "tokens kept, a part of one as its chance; -1: by rates");
    }
  };
  explicit Synthetic(const Params& p) : rates_(p.length < 0 ? parse(p.rates) : to_keep(p.length)) {}

 private:
  static std::vector<double> to_keep(double length) {
    std::vector<double> rates(static_cast<std::size_t>(length), 1.0);
    rates.push_back(length - std::floor(length));
    rates.push_back(0);
    return rates;
  }
  double rate(int depth) const {
    return rates_[std::min(static_cast<std::size_t>(depth), rates_.size()) - 1];
  }

  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::APPROXIMATE, .reads = {}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    Node u = redline::kRoot;
    for (Node c; (c = draft.first_child(u)) != redline::kNone; u = c)
      if (!draws.bernoulli(c, rate(draft.depth(c)))) break;
    return {u, draws.sample(u, p[u])};
  }
  double do_expected_accepted(const redline::Draft& draft,
                              std::span<const redline::Row>) const override {
    double reach = 1, sum = 0;
    for (Node c = redline::kRoot; (c = draft.first_child(c)) != redline::kNone;)
      sum += reach *= rate(draft.depth(c));
    return sum;
  }
  // Where the child is not kept a token of p is drawn: only what is kept can be off.
  double do_tv(const redline::Draft& draft, Node u,
               std::span<const redline::Row> p) const override {
    const Node c = draft.first_child(u);
    return c == redline::kNone ? 0 : rate(draft.depth(c)) * p[u].mass(draft.q(c));
  }
  std::vector<double> rates_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Synthetic>("accept_synthetic",
                                         "acceptance to order (lossy), first children"));
