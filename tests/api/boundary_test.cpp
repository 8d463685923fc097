// SPDX-License-Identifier: Apache-2.0
// What the public half of each kind checks, and how it names the plugin that failed.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "redline/plugin.hpp"

using namespace redline;

namespace {

class FirstToken final : public Draws {  // every draw gives the first token with mass
 public:
  FirstToken() : Draws(7) {}

 private:
  bool do_bernoulli(Node, double prob) override { return prob >= .5; }
  Token do_categorical(Node, const Row& row) override { return row.pick(0); }
  Token do_sample(Node, const Row& row) override { return row.pick(0); }
  Token do_gumbel_argmax(Node, const Row& row) override { return row.pick(0); }
};

class Rule final : public AcceptanceRule {
 public:
  explicit Rule(std::function<Verdict()> verdict, Shape shape = Shape::TREE)
      : verdict_(std::move(verdict)), shape_(shape) {
    name_as("my_rule");
  }

 private:
  RuleContract do_contract() const override { return {Claim::APPROXIMATE, {}, shape_}; }
  Verdict do_judge(const Draft&, std::span<const Row>, Draws&) const override { return verdict_(); }
  std::function<Verdict()> verdict_;
  Shape shape_;
};

class Fixed final : public DraftLength {
 public:
  explicit Fixed(Budget b, int stop_at = 99) : budget_(b), stop_at_(stop_at) { name_as("fixed"); }

 private:
  void do_choose(std::span<const Turn>, std::span<Budget> out) override {
    std::fill(out.begin(), out.end(), budget_);
  }
  bool do_proceed(Turn, int depth, const Row&) const override { return depth < stop_at_; }
  Budget budget_;
  int stop_at_;
};

class Growing final : public Drafter {
 public:
  explicit Growing(std::function<void(Proposal&)> grow) : grow_(std::move(grow)) {
    name_as("my_drafter");
  }

 private:
  DrafterContract do_contract() const override { return {}; }
  void do_propose(std::span<Proposal> batch) override {
    for (Proposal& p : batch) grow_(p);
  }
  std::function<void(Proposal&)> grow_;
};

const Row kRow = Row::dense(std::vector<float>{.25F, .25F, .25F, .25F});
const std::vector<Token> kText{0, 1};
const std::vector<Token> kStops{3};
const Sequence kSequence{42, kText, 2, 100, 4, kStops};

}  // namespace

TEST_CASE("a verdict outside the draft or the vocabulary is the rule's error") {
  Draft draft(4);
  draft.append({0, 1});
  const std::vector<Row> p{kRow, kRow};
  FirstToken draws;
  CHECK(Rule([] { return Verdict{1, 3}; }).judge(draft, p, draws).next == 3);
  CHECK_THROWS_AS(Rule([] { return Verdict{2, 3}; }).judge(draft, p, draws), PluginError);
  CHECK_THROWS_WITH(Rule([] { return Verdict{2, 3}; }).judge(draft, p, draws),
                    "my_rule.judge, sequence 7: verdict keeps node 2; the draft has 1");
  CHECK_THROWS_WITH(Rule([] { return Verdict{0, 4}; }).judge(draft, p, draws),
                    "my_rule.judge, sequence 7: verdict's next token 4 is not below V = 4");
  CHECK_THROWS_WITH(Rule([] { return Verdict{}; }).judge(draft, {p.data(), 1}, draws),
                    Catch::Contains("got 1 rows for 1 nodes"));
}

TEST_CASE("a chain rule refuses a tree") {
  Draft tree(4);
  tree.append({0, 1}), tree.append({0, 2});
  const std::vector<Row> p(3, kRow);
  FirstToken draws;
  CHECK_THROWS_WITH(Rule([] { return Verdict{}; }, Shape::CHAIN).judge(tree, p, draws),
                    Catch::Contains("takes chains only"));
}

TEST_CASE("whatever a hook throws names plugin, method and sequence and keeps its cause") {
  const std::vector<Row> p{kRow};
  FirstToken draws;
  const Rule rule([]() -> Verdict { throw std::runtime_error("a bug of mine"); });
  try {
    rule.judge(Draft(4), p, draws);
    FAIL("nothing was thrown");
  } catch (const PluginError& e) {
    CHECK(e.what() == std::string("my_rule.judge, sequence 7: a bug of mine"));
    CHECK_THROWS_WITH(std::rethrow_if_nested(e), "a bug of mine");
  }
  CHECK_THROWS_WITH(Rule([]() -> Verdict { throw 5; }).judge(Draft(4), p, draws),
                    Catch::Contains("no exception"));
  CHECK_THROWS_AS(
      Rule([]() -> Verdict { throw DeviceError("out of pages"); }).judge(Draft(4), p, draws),
      DeviceError);
}

TEST_CASE("a proposal stops at its budget, at a stop token and where the policy says") {
  FirstToken draws;
  const auto grown = [&](Budget b, int stop_at, std::function<void(Proposal&)> grow) {
    const Fixed policy(b, stop_at);
    std::vector<Proposal> batch;
    batch.emplace_back(Turn{kSequence, nullptr}, Limit{b, policy, nullptr}, draws);
    Growing(std::move(grow)).propose(batch);
    return batch.front().draft().size();
  };
  const auto chain = [](Proposal& p) {
    for (Node u = kRoot; u != kNone;) u = p.sample(u, kRow);
  };
  CHECK(grown({10, 3}, 99, chain) == 3);
  CHECK(grown({2, 9}, 99, chain) == 2);
  CHECK(grown({10, 9}, 2, chain) == 2);
  CHECK(grown({0, 0}, 99, chain) == 0);
  CHECK(grown({10, 9}, 99, [](Proposal& p) {
          const Node end = p.add(kRoot, 3);  // the sequence stops at 3
          CHECK_FALSE(p.has_room(end));
          CHECK(p.add(end, 1) == kNone);
        }) == 1);
  CHECK_THROWS_WITH(grown({10, 9}, 99, [](Proposal& p) { p.add(5, 1); }),
                    Catch::Contains("my_drafter.propose, sequence 42: "));
}

TEST_CASE("a sampled child keeps its law, its row and its siblings' exclusion") {
  FirstToken draws;
  const Fixed policy({10, 10});
  Proposal p({kSequence, nullptr}, {{10, 10}, policy, nullptr}, draws);
  const Node a = p.sample_new(kRoot, kRow), b = p.sample_new(kRoot, kRow);
  CHECK(p.draft().token(a) == 0);
  CHECK(p.draft().token(b) == 1);
  CHECK(p.draft().item(b).row->same_as(kRow));
  CHECK(p.draft().q(b).at(0) == 0);
  CHECK(p.draft().item(p.couple(a, kRow)).law == Law::COUPLED);
  CHECK(p.add(a, 0) == p.add(a, 0));  // twins merge
}

TEST_CASE("a negative budget is the policy's error") {
  const Turn turn{kSequence, nullptr};
  CHECK_THROWS_WITH(Fixed({-1, 2}).choose({&turn, 1}),
                    Catch::Contains("fixed.choose, sequence 42"));
}

TEST_CASE("the mass of a tree counts a repeated sibling once") {
  Draft d(4);
  const Node a = d.append({0, 1, Law::ROW, kRow});
  d.append({0, 1, Law::ROW, kRow});
  d.append({a, 2});
  const std::vector<Row> p(4, kRow);
  CHECK(path_mass(d, p) == Approx(.25 + .0625));
}

TEST_CASE("a host refuses what it does not offer") {
  class Bare final : public Host {
  } host;
  CHECK_THROWS_WITH(host.open_model("draft"),
                    Catch::Contains("'draft'; this host opens no models"));
  CHECK_THROWS_WITH(host.target(), Catch::Contains("no target"));
  CHECK_THROWS_AS(host.open<Drafter>("draft_ngram"), PluginError);
}
