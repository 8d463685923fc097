// SPDX-License-Identifier: Apache-2.0
// The policies and links the proofs turn on, kept apart from the shipped ones so that neither can
// hide a fault of the other.
#include <algorithm>
#include <set>

#include "redline/plugin.hpp"

namespace {

class Confidence final : public redline::DraftLength {
 public:
  struct Params {
    int max_nodes = 64, max_depth = 8;
    double p_min = 0;
    void visit(redline::ParameterVisitor& v) {
      v("max_nodes", max_nodes, {0, 1024}, "nodes per sequence and step");
      v("max_depth", max_depth, {0, 64}, "longest path");
      v("p_min", p_min, {0, 1}, "stop below a node whose next row has a smaller top probability");
    }
  };
  explicit Confidence(const Params& p) : params_(p) {}

 private:
  void do_choose(std::span<const redline::Turn>, std::span<redline::Budget> budgets) override {
    for (auto& b : budgets) b = {params_.max_nodes, params_.max_depth};
  }
  bool do_proceed(redline::Turn, int, const redline::Row& q_next) const override {
    return params_.p_min <= 0 || q_next.top(1).front().p >= params_.p_min;
  }
  Params params_;
};

struct Depth final : redline::State {
  int depth = 1;
};
class Heuristic final
    : public redline::DraftLength {  // 2 deeper after full acceptance, else 1 less
  std::unique_ptr<redline::State> do_begin(const redline::Sequence&) override {
    return std::make_unique<Depth>();
  }
  void do_choose(std::span<const redline::Turn> batch,
                 std::span<redline::Budget> budgets) override {
    for (std::size_t k = 0; k < batch.size(); ++k) budgets[k] = {64, batch[k].as<Depth>().depth};
  }
  void do_observe(std::span<const redline::Outcome> batch) override {
    for (const auto& o : batch) {
      int& depth = o.turn.as<Depth>().depth;
      depth = o.draft.depth(o.verdict.keep) == depth ? depth + 2 : std::max(1, depth - 1);
    }
  }
};

struct Seen {
  std::set<redline::Token> tokens;
};
class Penalty final : public redline::SamplerOf<Seen> {
 public:
  struct Params {
    double factor = 1.5;
    void visit(redline::ParameterVisitor& v) { v("factor", factor, {1, 10}, "of seen tokens"); }
  };
  explicit Penalty(const Params& p) : factor_(static_cast<float>(p.factor)) {}

 private:
  redline::Slot do_slot() const override { return redline::Slot::PENALTY; }
  void step(Seen& seen, redline::Token t) const override { seen.tokens.insert(t); }
  void edit(const Seen& seen, redline::Logits& row) const override {
    for (const redline::Token t : seen.tokens)
      row.set(t, row.at(t) > 0 ? row.at(t) / factor_ : row.at(t) * factor_);
  }
  float factor_;
};

struct Last {
  redline::Token token = redline::kNone;
};
class NoRepeat final : public redline::SamplerOf<Last> {  // no token twice in a row
  redline::Slot do_slot() const override { return redline::Slot::MASK; }
  void step(Last& last, redline::Token t) const override { last.token = t; }
  void edit(const Last& last, redline::Logits& row) const override {
    if (last.token != redline::kNone) row.ban(last.token);
  }
};

struct Nothing {};
class Ban final : public redline::SamplerOf<Nothing> {
 public:
  struct Params {
    int token = 0;
    void visit(redline::ParameterVisitor& v) { v("token", token, {0, 1e9}, "never emitted"); }
  };
  explicit Ban(const Params& p) : token_(p.token) {}

 private:
  redline::Slot do_slot() const override { return redline::Slot::MASK; }
  void edit(const Nothing&, redline::Logits& row) const override { row.ban(token_); }
  redline::Token token_;
};

class Temperature final : public redline::SamplerOf<Nothing> {
 public:
  struct Params {
    double t = 1;
    void visit(redline::ParameterVisitor& v) { v("t", t, {0, 100}, "0: the best token"); }
  };
  explicit Temperature(const Params& p) : t_(p.t) {}

 private:
  redline::Slot do_slot() const override { return redline::Slot::TEMPERATURE; }
  void edit(const Nothing&, redline::Logits& row) const override {
    t_ == 0 ? row.keep_argmax() : row.scale(static_cast<float>(1 / t_));
  }
  double t_;
};

// A rule that keeps nothing it was offered: legal, for nothing says that a rule must.
class KeepNone final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {redline::Claim::CONDITIONALLY_LOSSLESS, {}};
  }
  redline::Verdict do_judge(const redline::Draft&, std::span<const redline::Row> p,
                            redline::Draws& draws) const override {
    return {redline::kRoot, draws.sample(redline::kRoot, p[redline::kRoot])};
  }
};

class Throws final : public redline::AcceptanceRule {
  redline::RuleContract do_contract() const override {
    return {redline::Claim::CONDITIONALLY_LOSSLESS, {}};
  }
  redline::Verdict do_judge(const redline::Draft&, std::span<const redline::Row>,
                            redline::Draws&) const override {
    throw redline::Error("this rule throws");
  }
};
}  // namespace

REDLINE_PLUGIN(redline::entry<Confidence>("test_length", "fixed budget with a confidence stop"),
               redline::entry<Heuristic>("test_heuristic", "grows by 2, shrinks by 1"),
               redline::entry<Penalty>("test_penalty", "of every token seen"),
               redline::entry<NoRepeat>("test_no_repeat", "no token twice in a row"),
               redline::entry<Ban>("test_ban", "one token"),
               redline::entry<Temperature>("test_temperature", "divides logits"),
               redline::entry<KeepNone>("test_keep_none", "rejects every draft"),
               redline::entry<Throws>("test_rule_throws", "throws"));
