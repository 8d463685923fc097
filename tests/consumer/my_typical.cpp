// SPDX-License-Identifier: Apache-2.0
// Typical acceptance (arXiv 2401.10774), lossy: keep a token that is likely enough for how open the
// target's row is; the token after the kept path is the target's own best.
#include <cmath>
#include <redline/plugin.hpp>

namespace {

using redline::Node;

class Typical final : public redline::AcceptanceRule {
 public:
  struct Params {
    double eps = .09, delta = .3;
    void visit(redline::ParameterVisitor& v) {
      v("eps", eps, {0, 1}, "probability that is always enough");
      v("delta", delta, {0, 1}, "share of exp(-entropy) that is enough");
    }
  };
  explicit Typical(const Params& p) : params_(p) {}

 private:
  redline::RuleContract do_contract() const override {
    return {.claim = redline::Claim::APPROXIMATE, .reads = {}};
  }
  redline::Verdict do_judge(const redline::Draft& draft, std::span<const redline::Row> p,
                            redline::Draws&) const override {
    Node deepest = redline::kRoot;
    std::vector<bool> is_kept(p.size());
    is_kept[redline::kRoot] = true;
    for (Node n = 1; n <= draft.size(); ++n) {
      const redline::Row& row = p[draft.parent(n)];
      const double enough = std::min(params_.eps, params_.delta * std::exp(-row.entropy()));
      is_kept[n] = is_kept[draft.parent(n)] && row.at(draft.token(n)) > enough;
      if (is_kept[n] && draft.depth(n) > draft.depth(deepest)) deepest = n;
    }
    return {deepest, p[deepest].argmax()};
  }
  Params params_;
};

}  // namespace

REDLINE_PLUGIN(redline::entry<Typical>("my_typical", "typical acceptance (lossy)"));
