// SPDX-License-Identifier: Apache-2.0
// A policy, a rule and a sampler; on marked sequences one fault.
#include <limits>

#include "marked.hpp"

namespace {
using redline::Budget, redline::Draft, redline::Draws, redline::Node, redline::Outcome,
    redline::Row, redline::Turn, redline::Verdict, redline::kRoot;

struct Params {
  std::string how;
  void visit(redline::ParameterVisitor& v) { v("how", how, "the fault"); }
};

class Length final : public redline::DraftLength {
 public:
  using Params = ::Params;
  explicit Length(const Params& p) : how_(p.how) {}

 private:
  std::unique_ptr<redline::State> do_begin(const redline::Sequence& s) override {
    if (how_.starts_with("begin") && faulty::is_marked(s)) faulty::fail(how_);
    return nullptr;
  }
  void do_choose(std::span<const Turn> batch, std::span<Budget> budgets) override {
    for (std::size_t k = 0; k < batch.size(); ++k) {
      budgets[k] = {4, 4};
      if (!faulty::is_due(batch[k].sequence)) continue;
      if (how_.starts_with("choose")) faulty::fail(how_);
      if (how_ == "negative budget") budgets[k] = {-4, 4};
      constexpr int kMost = std::numeric_limits<int>::max();
      if (how_ == "huge budget") budgets[k] = {kMost, kMost};
    }
  }
  bool do_proceed(Turn turn, int, const Row&) const override {
    if (how_.starts_with("proceed") && faulty::is_due(turn.sequence)) faulty::fail(how_);
    return true;
  }
  void do_observe(std::span<const Outcome> batch) override {
    for (const Outcome& o : batch)
      if (how_.starts_with("observe") && faulty::is_due(o.turn.sequence)) faulty::fail(how_);
  }
  std::string how_;
};

class Counting final : public redline::DraftLength {  // sound: as deep as it was asked often
  struct Count final : redline::State {
    int asked = 0;
  };
  std::unique_ptr<redline::State> do_begin(const redline::Sequence&) override {
    return std::make_unique<Count>();
  }
  void do_choose(std::span<const Turn> batch, std::span<Budget> budgets) override {
    for (std::size_t k = 0; k < batch.size(); ++k) {
      const int depth = 1 + batch[k].as<Count>().asked++ % 6;
      budgets[k] = {depth, depth};
    }
  }
};

class Rule final : public redline::AcceptanceRule {  // as accept_match, else
 public:
  using Params = ::Params;
  explicit Rule(const Params& p) : how_(p.how) {}

 private:
  redline::RuleContract do_contract() const override {
    return {redline::Claim::CONDITIONALLY_LOSSLESS, {}};
  }
  Verdict do_judge(const Draft& draft, std::span<const Row> p, Draws& draws) const override {
    is_marked_ = draws.sequence() >= faulty::kMarkedKeys && draft.size() > 0;
    if (is_marked_) {
      if (how_.starts_with("judge")) faulty::fail(how_);
      if (how_ == "keeps node 99") return {99, 1};
      if (how_ == "keeps node -5") return {-5, 1};
      if (how_ == "next is -1") return {kRoot, -1};
      if (how_ == "next is V") return {kRoot, p[0].vocab()};
      if (how_ == "chance of 2") draws.bernoulli(1, 2.0);
      if (how_ == "draws at node 99") draws.categorical(99, p[0]);
      if (how_ == "draws at node -5") draws.categorical(-5, p[0]);
      if (how_ == "asks for token V") return {kRoot, p[0].at(p[0].vocab()) > 0 ? 1 : 2};
    }
    for (Node at = kRoot;;) {
      const redline::Token next = draws.sample(at, p[at]);
      const Node child = draft.child(at, next);
      if (child == redline::kNone) return {at, next};
      at = child;
    }
  }
  double do_expected_accepted(const Draft&, std::span<const Row>) const override {
    if (how_.starts_with("forecast") && is_marked_) faulty::fail(how_);
    return 0;
  }
  std::string how_;
  mutable bool is_marked_ = false;  // what was judged last
};

class Link final : public redline::Sampler {
 public:
  using Params = ::Params;
  explicit Link(const Params& p) : how_(p.how) {}

 private:
  struct Seen final : Memory {
    std::string how;
    bool is_marked = false;
    int left = 0;  // tokens until the fault
    std::unique_ptr<Memory> clone() const override {
      if (is_due() && how.starts_with("clone throws")) faulty::fail(how);
      if (is_due() && how == "clone is null") return nullptr;
      return std::make_unique<Seen>(*this);
    }
    bool is_due() const { return is_marked && left <= 0; }
  };
  redline::Slot do_slot() const override { return redline::Slot::BIAS; }
  std::unique_ptr<Memory> do_begin(const redline::Sequence& s) const override {
    if (faulty::is_marked(s) && how_.starts_with("begin")) faulty::fail(how_);
    if (faulty::is_marked(s) && how_ == "no memory") return nullptr;
    auto seen = std::make_unique<Seen>();
    seen->how = how_;
    seen->is_marked = faulty::is_marked(s);
    seen->left = s.prompt_tokens + static_cast<int>(faulty::kGoodTokens);
    return seen;
  }
  void do_advance(Memory& memory, redline::Token) const override {
    Seen& seen = static_cast<Seen&>(memory);
    --seen.left;
    if (seen.is_due() && how_.starts_with("advance")) faulty::fail(how_);
  }
  void do_apply(const Memory& memory, redline::Logits& row) const override {
    if (!static_cast<const Seen&>(memory).is_due()) return;
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (how_.starts_with("apply")) faulty::fail(how_);
    if (how_ == "sets NaN") row.set(3, kNan);
    if (how_ == "sets infinity") row.set(3, kInfinity);
    if (how_ == "sets token V") row.set(row.vocab(), 1);
    if (how_ == "sets token -1") row.set(-1, 1);
    if (how_ == "writes NaN") row.values()[3] = kNan;
    if (how_ == "writes infinity") row.values()[3] = kInfinity;
    if (how_ == "scales by 0") row.scale(0);
  }
  std::string how_;
};
}  // namespace

REDLINE_PLUGIN(redline::entry<Length>("faulty_length", "one fault on marked sequences"),
               redline::entry<Counting>("counting_length", "deeper each time, up to six"),
               redline::entry<Rule>("faulty_rule", "one fault on marked requests"),
               redline::entry<Link>("faulty_link", "one fault on marked sequences"));
