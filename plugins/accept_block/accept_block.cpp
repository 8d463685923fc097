// SPDX-License-Identifier: Apache-2.0
// Block verification of a chain (arXiv 2403.10444): keep the longest prefix that passes, scanning
// from the end. A failure at one length does not end the scan.
#include "redline/plugin.hpp"

namespace {

using redline::Node;

class Block final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::MARGINALLY_LOSSLESS,
            .reads = {.row = true},
            .shape = redline::Shape::CHAIN};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    const std::vector<double> w = weights(draft, p);
    Node keep = draft.size();
    while (keep != redline::kRoot && !draws.bernoulli(keep, chance(draft, keep, p, w))) --keep;
    if (keep == draft.size()) return {keep, draws.categorical(keep, p[keep])};
    return {keep, draws.categorical(keep, p[keep].residual(draft.q(keep + 1), w[keep]))};
  }
  double do_expected_accepted(const redline::Draft& draft,
                              std::span<const redline::Row> p) const override {
    const std::vector<double> w = weights(draft, p);
    double sum = 0, failed = 1;  // failed: the chance that no longer prefix passes
    for (Node i = draft.size(); i != redline::kRoot; --i) {
      const double h = chance(draft, i, p, w);
      sum += i * failed * h;
      failed *= 1 - h;
    }
    return sum;
  }
  // How much of the prefix's probability under q the target backs: min(1, product of p / q), cut
  // to 1 at each step. [K+1]
  static std::vector<double> weights(const redline::Draft& draft, std::span<const redline::Row> p) {
    std::vector<double> w(p.size(), 1.0);
    for (Node i = 1; i <= draft.size(); ++i) {
      const redline::Token x = draft.token(i);
      w[i] = redline::ratio(w[i - 1] * p[i - 1].at(x), draft.q(i).at(x));
    }
    return w;
  }
  static double chance(const redline::Draft& draft, Node i, std::span<const redline::Row> p,
                       const std::vector<double>& w) {
    return i == draft.size() ? w[i] : redline::stop(p[i].mass(draft.q(i + 1), w[i]), w[i]);
  }
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Block>("accept_block", "block verification, chains"));
