// SPDX-License-Identifier: Apache-2.0
// Rules that forget an edge: no draft, a wide tree, a large vocabulary, a long run, the ends of a
// parameter, what their listing says. Else the token ratio rule on the first token.
#include <array>

#include "redline/plugin.hpp"

namespace {
using redline::Draft, redline::Draws, redline::Row, redline::Verdict, redline::kRoot;

redline::RuleContract exact(redline::Shape shape) {
  return {redline::Claim::MARGINALLY_LOSSLESS, {true}, shape};
}
Verdict ratio_rule(const Draft& draft, std::span<const Row> p, Draws& draws) {
  if (draft.size() == 0) return {kRoot, draws.categorical(kRoot, p[kRoot])};
  const redline::Token x = draft.token(1);
  if (!draws.bernoulli(1, redline::ratio(p[kRoot].at(x), draft.q(1).at(x))))
    return {kRoot, draws.categorical(kRoot, p[kRoot].residual(draft.q(1)))};
  return {1, draws.categorical(1, p[1])};
}

class WantsDrafts final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override { return exact(redline::Shape::CHAIN); }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    if (draft.size() == 0) throw redline::Error("no token to judge");
    return ratio_rule(draft, p, draws);
  }
};

class Narrow final : public redline::AcceptanceRule {  // a table of nodes that is too small
  redline::RuleContract do_contract() const override { return exact(redline::Shape::TREE); }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    std::array<bool, 8> is_kept{};
    for (redline::Node n = 1; n <= draft.size(); ++n) is_kept.at(n) = true;
    return ratio_rule(draft, p, draws);
  }
};

class SmallVocab final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override { return exact(redline::Shape::CHAIN); }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    if (draft.vocab() > 1000) throw redline::Error("a thousand tokens at most");
    return ratio_rule(draft, p, draws);
  }
};

class Tires final : public redline::AcceptanceRule {  // exact, but another rule after a while
  redline::RuleContract do_contract() const override { return exact(redline::Shape::CHAIN); }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    if (++judged_ > 70) return {kRoot, draws.categorical(kRoot, p[kRoot])};
    return ratio_rule(draft, p, draws);
  }
  mutable int judged_ = 0;
};

class Edgy final : public redline::AcceptanceRule {
 public:
  struct Params {
    int every = 2;
    void visit(redline::ParameterVisitor& v) { v("every", every, {0, 8}, "of no use"); }
  };
  explicit Edgy(const Params& p) : every_(p.every) {}

 private:
  redline::RuleContract do_contract() const override { return exact(redline::Shape::CHAIN); }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    if (every_ == 0) throw redline::Error("a division by zero");
    return ratio_rule(draft, p, draws);
  }
  int every_;
};

class BadDefault final : public redline::AcceptanceRule {
 public:
  struct Params {
    int k = 0;
    void visit(redline::ParameterVisitor& v) { v("k", k, {1, 8}, "of no use"); }
  };
  explicit BadDefault(const Params&) {}

 private:
  redline::RuleContract do_contract() const override { return exact(redline::Shape::CHAIN); }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    return ratio_rule(draft, p, draws);
  }
};

class KeepsAll final : public redline::AcceptanceRule {  // lossy, and claims that it is not
  redline::RuleContract do_contract() const override { return exact(redline::Shape::CHAIN); }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    return {draft.size(), draws.categorical(draft.size(), p[draft.size()])};
  }
};
}  // namespace

REDLINE_PLUGIN(redline::entry<KeepsAll>("keeps_all", "whatever is drafted"),
               redline::entry<WantsDrafts>("wants_drafts", "judges no empty draft"),
               redline::entry<Narrow>("narrow", "eight nodes at most"),
               redline::entry<SmallVocab>("small_vocab", "a thousand tokens at most"),
               redline::entry<Tires>("tires", "keeps nothing after seventy drafts"),
               redline::entry<Edgy>("edgy", "fails at an end of its parameter"),
               redline::entry<BadDefault>("bad_default", "outside its own range"));
