// SPDX-License-Identifier: Apache-2.0
// When acceptance switches in mid-text each adaptive policy follows within the steps its README
// states, and none is off for good. The policies as built, in a scripted world.
#include <catch2/catch.hpp>

#include "priced_host.hpp"
#include "step/cell.hpp"

namespace redline::step {
namespace {

struct Level {  // of a draft's depth
  float confidence;
  bool is_kept;
};
struct World {
  Level first, below;
};
World all(Level l) { return {l, l}; }

// In units of a plain step: ten more rows cost one, a forward of the draft `draft`.
Costs costs_of(double draft) {
  Costs costs;
  costs.target.points = {{0, 1, 1}, {0, 101, 11}};
  costs.draft.points = {{0, 1, draft}, {0, 101, draft}};
  return costs;
}

class Followed {
 public:
  explicit Followed(const Choice& c, double draft_cost = .25)
      : host_(costs_of(draft_cost)),
        policy_(registry().make<DraftLength>(c.name, c.arguments(), host_)),
        state_(policy_->begin(sequence_)) {}

  int step(const World& w) {  // its K
    const Turn turn{sequence_, state_.get()};
    const Budget budget = policy_->choose({&turn, 1}).front();
    Draft draft(4);
    int kept = 0;
    for (int depth = 0; depth < budget.max_depth; ++depth) {
      const Level& level = depth == 0 ? w.first : w.below;
      const float rest = (1 - level.confidence) / 3;
      const Row q = Row::dense(std::vector<float>{level.confidence, rest, rest, rest});
      if (!policy_->proceed(turn, depth, q)) break;
      draft.append({depth, 0, Law::ROW, q});
      if (kept == depth && level.is_kept) ++kept;
    }
    const Outcome o{turn, draft, {kept, 1}, {}, {}};
    policy_->observe({&o, 1});
    tokens_ += kept + 1;
    return draft.size();
  }
  void live(const World& w, int steps) {
    for (int k = 0; k < steps; ++k) step(w);
  }
  // Steps in that world until one has such a K: 1 is the first. At most 100,000.
  template <class Wanted>
  int steps_until(const World& w, Wanted wanted) {
    int steps = 1;
    while (!wanted(step(w)) && steps < 100'000) ++steps;
    return steps;
  }
  int tokens() const { return tokens_; }

 private:
  inline static const std::vector<Token> kText{0};
  redline::Sequence sequence_{.id = 1, .tokens = kText, .tokens_left = 1 << 20, .vocab = 4};
  PricedHost host_;
  std::unique_ptr<DraftLength> policy_;
  std::unique_ptr<State> state_;
  int tokens_ = 0;
};

const auto kNothing = [](int k) { return k == 0; };
const auto kSomething = [](int k) { return k > 0; };

TEST_CASE("length_confidence and length_entropy follow the draft's rows in the same step") {
  const World sure = all({.99F, true}), unsure = all({.3F, false});
  for (const Choice& choice : {Choice{"length_confidence", {{"max_depth", "8"}}},
                               Choice{"length_entropy", {{"max_depth", "8"}, {"g", "0.5"}}}}) {
    INFO(choice.name);
    Followed f(choice);
    f.live(sure, 100);
    CHECK(f.step(unsure) == 0);
    f.live(unsure, 1000);
    CHECK(f.step(sure) == 8);
  }
}

TEST_CASE("length_heuristic falls to 1 within K - 1 steps and is back within half as many") {
  const World good = all({.5F, true}), poor = all({.5F, false});
  Followed f({"length_heuristic", {{"max_depth", "20"}}});
  f.live(good, 100);
  REQUIRE(f.step(good) == 20);
  f.step(poor);  // 20 drafted before the switch could be seen
  CHECK(f.steps_until(poor, [](int k) { return k == 1; }) == 19);
  f.live(poor, 1000);
  REQUIRE(f.step(good) == 1);  // never 0
  CHECK(f.steps_until(good, [](int k) { return k == 20; }) == 10);
}

TEST_CASE("length_threshold follows within `window` steps, at any confidence") {
  for (const int window : {16, 256}) {
    const Choice choice{"length_threshold",
                        {{"max_depth", "8"}, {"window", std::to_string(window)}}};
    // Of one confidence, which tells nothing: the past alone does.
    const World good = all({.6F, true}), poor = all({.6F, false});
    Followed alike(choice);
    alike.live(good, 300);
    REQUIRE(alike.step(good) == 8);
    alike.live(poor, window);
    CHECK(alike.step(poor) == 1);
    alike.live(poor, 1000);
    CHECK(alike.step(poor) == 1);  // never 0
    alike.live(good, window);
    CHECK(alike.step(good) == 8);
    // The confidence tells, and what it tells changes.
    const World told{{.9F, true}, {.6F, false}}, untold{{.9F, true}, {.6F, true}};
    Followed apart(choice);
    apart.live(told, 1000);
    REQUIRE(apart.step(told) == 1);
    apart.live(untold, window);
    CHECK(apart.step(untold) == 8);
    apart.live(told, window);
    CHECK(apart.step(told) == 1);
  }
}

TEST_CASE("length_goodput drops a useless draft within 64 steps and tries it again within 32") {
  for (const float confidence : {.7F, .9F}) {
    const World good = all({confidence, true}), poor = all({confidence, false});
    for (const double draft_cost : {.15, .25})  // and .1 for the row: up to half a confidence
      for (const int good_steps : {20, 1000})
        for (const int poor_steps : {0, 2000}) {
          Followed f({"length_goodput", {}}, draft_cost);
          f.live(good, good_steps);
          REQUIRE(f.step(good) > 4);
          const int falls = f.steps_until(poor, kNothing);
          f.live(poor, poor_steps);
          f.steps_until(poor, kNothing);
          const int rises = f.steps_until(good, kSomething);
          INFO(falls << " steps to 0, " << rises << " to a draft");
          CHECK(falls <= 64);
          CHECK(rises <= 32);
          f.live(good, 96);
          CHECK(f.step(good) > 4);
        }
  }
}

TEST_CASE("length_goodput retries a useless draft in one step of sixteen at most") {
  Followed f({"length_goodput", {}}, .3);
  const World poor = all({.9F, false});
  f.live(poor, 200);
  int drafted = 0;
  for (int k = 0; k < 1600; ++k) drafted += f.step(poor);
  CHECK(drafted > 0);
  CHECK(drafted <= 100);
}

TEST_CASE("length_auto is off within 128 steps, however much it gained before") {
  const World good = all({.9F, true}), poor = all({.9F, false});
  for (const double draft_cost : {.25, .5})  // four tokens cost 1.4 plain steps, or 2.4
    for (const int good_steps : {20, 400, 20'000}) {
      Followed f({"length_auto", {}}, draft_cost);
      f.live(good, good_steps);
      REQUIRE(f.step(good) == 4);
      const int steps = f.steps_until(poor, kNothing);
      INFO("after " << good_steps << " good steps off in " << steps);
      CHECK(steps - 1 <= 128);  // the last is plain
    }
}

TEST_CASE("length_auto is on again within its longest wait, however long the draft was useless") {
  const World good = all({.9F, true}), poor = all({.9F, false});
  for (const int useless : {2'000, 20'000, 100'000}) {
    Followed f({"length_auto", {{"max_backoff", "1024"}}});
    f.live(poor, useless);
    f.steps_until(poor, kNothing);
    const int before = f.tokens();
    f.steps_until(good, kSomething);
    INFO("useless " << useless << ": a probe after " << f.tokens() - before << " tokens");
    CHECK(f.tokens() - before <= 1024 + 5);  // and the probe's own
    f.live(good, 8);
    for (int k = 0; k < 200; ++k) CHECK(f.step(good) == 4);
  }
}

}  // namespace
}  // namespace redline::step
