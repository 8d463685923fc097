// SPDX-License-Identifier: Apache-2.0
// Drafters wrong on purpose: they need the raw door, for sample(), sample_new(), couple() and add()
// cannot express them. Flat trees under the root.
#include "redline/plugin.hpp"

namespace {
using redline::Draws, redline::Law, redline::Row, redline::Token, redline::kRoot;

enum class Lie { N3, N4, N6, N7, N9, N10, N11, N11_HONEST, N12, N15, TARGET_NOISE };

template <Lie kLie>
class Liar final : public redline::Drafter {
 public:
  struct Params {
    int children = 1;
    void visit(redline::ParameterVisitor& v) { v("children", children, {1, 8}, "siblings"); }
  };
  Liar(const Params& p, redline::Host& host)
      : children_(p.children), model_(host.open_model("draft")) {}

 private:
  redline::DrafterContract do_contract() const override {
    return {{true},
            children_ > 1 ? redline::Shape::TREE : redline::Shape::CHAIN,
            kLie == Lie::N11_HONEST};
  }
  void do_propose(std::span<redline::Proposal> batch) override {
    for (auto& proposal : batch) {
      const Row q = model_.next(proposal, kRoot);
      std::vector<Token> used;
      for (int k = 0; k < children_; ++k) {
        const Token x = draw(proposal.draws(), q, used, k);
        used.push_back(x);
        const bool is_likely = q.at(x) >= .25;
        if ((kLie == Lie::N11 || kLie == Lie::N11_HONEST) && !is_likely) continue;
        if (kLie == Lie::N12 && x == 3) continue;  // illegal, dropped
        const bool is_new = kLie == Lie::N7 || kLie == Lie::N10;
        proposal.append(
            {kRoot, x, Law::ROW, q, is_new ? redline::EXCLUDE_EARLIER_SIBLINGS : redline::NO_FLAG});
      }
    }
  }
  static Token draw(Draws& draws, const Row& q, const std::vector<Token>& used, int k) {
    if (kLie == Lie::N3 || kLie == Lie::N10) return q.top(k + 1).back().token;
    if (kLie == Lie::N4) return draws.categorical(kRoot, sharpened(q));
    if (kLie == Lie::N6) return draws.categorical(kRoot, q.without(used));
    if (kLie == Lie::N9) return draws.gumbel_argmax(kRoot, q);
    if (kLie == Lie::TARGET_NOISE) return draws.sample(kRoot, q);
    if (kLie == Lie::N15) {  // the better of two by the target's law of VB, which falls with the id
      const Token a = draws.categorical(kRoot, q), b = draws.categorical(kRoot, q);
      return std::min(a, b);
    }
    return draws.categorical(kRoot, q);
  }
  static Row sharpened(const Row& q) {  // q at half the temperature
    auto v = q.to_dense();
    float sum = 0;
    for (float& x : v) sum += x *= x;
    for (float& x : v) x /= sum;
    return Row::dense(v);
  }
  int children_;
  redline::Model& model_;
};
}  // namespace

REDLINE_PLUGIN(redline::entry<Liar<Lie::N3>>("n3", "argmax draft declared as sampled"),
               redline::entry<Liar<Lie::N4>>("n4", "sampled at another temperature"),
               redline::entry<Liar<Lie::N6>>("n6", "without replacement declared as i.i.d."),
               redline::entry<Liar<Lie::N7>>("n7", "i.i.d. declared as without replacement"),
               redline::entry<Liar<Lie::N9>>("n9", "shared noise declared as own"),
               redline::entry<Liar<Lie::N10>>("n10", "top-k declared as sampled"),
               redline::entry<Liar<Lie::N11>>("n11", "sampled token dropped if unlikely"),
               redline::entry<Liar<Lie::N11_HONEST>>("n11_honest", "declared as anticipating"),
               redline::entry<Liar<Lie::N12>>("n12", "illegal sampled token dropped"),
               redline::entry<Liar<Lie::N15>>("n15", "the better of two samples"),
               redline::entry<Liar<Lie::TARGET_NOISE>>("target_noise", "draws the target's noise"));
