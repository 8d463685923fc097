// SPDX-License-Identifier: Apache-2.0
// How lossy the approximate rules are, exactly: acceptance, law of the emitted token and its total
// variation from p, enumerated as built.
#include "rules/claims.hpp"

namespace redline::step {
namespace {

using Probs = std::vector<double>;
const Pair kFour = flat({.6, .25, .1, .05}, {.4, .3, .2, .1});
const Pair kPeaked = flat({.94, .03, .02, .01}, {.25, .25, .25, .25});

struct Vector {
  Choice rule;
  const Pair& tables;
  double accepted;
  Probs emitted;  // [V]
  double tv;
};
void check(const Vector& v, const Choice& drafter = tree("1", "iid")) {
  std::string rule = v.rule.name;
  for (const auto& [key, value] : v.rule.values) rule += ' ' + key + '=' + value;
  INFO(rule);
  const Finding f = enumerate({.tables = v.tables, .rule = v.rule, .drafter = drafter});
  CHECK(std::abs(f.accepted - v.accepted) < 1e-6);
  if (!std::isnan(f.expected)) CHECK(std::abs(f.expected - f.accepted) < 1e-6);
  CHECK(std::abs(f.first_tv - v.tv) < 1e-6);
  for (std::size_t t = 0; t < v.emitted.size(); ++t) {
    const auto it = f.first.find({static_cast<Token>(t)});
    INFO("token " << t);
    CHECK(std::abs((it == f.first.end() ? 0 : it->second) - v.emitted[t]) < 1e-6);
  }
}
Choice with(const char* name, std::map<std::string, std::string> values) { return {name, values}; }

TEST_CASE("Typical acceptance emits its derived law") {
  check({with("accept_typical", {}), kFour, .9, {.5, .3, .2, 0}, .15});
  check({with("accept_typical", {{"epsilon", "0.1001"}, {"delta", "0.316228"}}),
         kFour,
         .7,
         {.7, .3, 0, 0},
         .15});
  check({with("accept_typical", {}), kPeaked, .25, {1, 0, 0, 0}, .06});
  check({with("accept_typical", {{"next", "sample"}}),
         kFour,
         .9,
         {.46, .325, .21, .005},
         .135 + .05});
}

TEST_CASE("The best few within a distance emit their derived law") {
  const auto top = [](const char* n, const char* d) {
    return with("accept_top_delta", {{"top", n}, {"delta", d}});
  };
  check({top("2", "0.4"), kFour, .7, {.7, .3, 0, 0}, .15});
  check({top("3", "0.6"), kFour, .9, {.5, .3, .2, 0}, .15});
  check({top("3", "0.4"), kFour, .7, {.7, .3, 0, 0}, .15});  // the third is too far
  check({top("1", "0"), kFour, .4, {1, 0, 0, 0}, .4});       // greedy match
}

TEST_CASE("The best few within nats emit the same laws") {
  const auto log = [](const char* n, const char* tolerance) {
    return with("accept_log_tolerance", {{"top", n}, {"tolerance", tolerance}});
  };
  check({log("2", "0.8755"), kFour, .7, {.7, .3, 0, 0}, .15});   // ln(.6 / .25) = .875469
  check({log("3", "1.7918"), kFour, .9, {.5, .3, .2, 0}, .15});  // ln 6 = 1.791759
  check({log("4", "1.7917"), kFour, .7, {.7, .3, 0, 0}, .15});
  check({log("1", "0"), kFour, .4, {1, 0, 0, 0}, .4});
}

TEST_CASE("Lenience emits its derived law, and p at l = 1") {
  check({with("accept_lenient", {{"l", "0.5"}}), VA, .9, {.272727, .327273, .4}, .227273});
  check({with("accept_lenient", {{"l", "0.25"}}), VA, 1, {.2, .3, .5}, .3});
  check({with("accept_lenient", {{"l", "1"}}), VB, .72, {.4, .3, .2, .1}, 0}, tree("2", "iid"));
}

TEST_CASE("Acceptance relaxed by entropy emits its derived law, and p where nothing is relaxed") {
  check({with("accept_entropy", {}), kFour, .85, {.55, .3, .1, .05}, .05});
  check({with("accept_entropy", {{"threshold", "1"}, {"alpha", "1"}}),
         flat({.7, .3}, {.8, .2}),
         1,
         {.8, .2},
         .1});  // .7 is above exp(-H) = .543
  check({with("accept_entropy", {{"threshold", "0.7"}, {"alpha", "1"}}),
         flat({.5, .5}, {.25, .75}),
         .75,
         {.5, .5},
         0});  // no token is above exp(-H) = .5
}

TEST_CASE("Synthetic acceptance keeps what it is told to, and emits q as often") {
  const auto rates = [](const char* text) { return with("accept_synthetic", {{"rates", text}}); };
  check({rates("0.5"), VB, .5, {.25, .25, .25, .25}, .2});
  check({rates("1"), VB, 1, {.1, .2, .3, .4}, .4});
  check({rates("0"), VB, 0, {.4, .3, .2, .1}, 0});
  const Choice chain = tree("1;1;1", "iid");
  check({rates("0.5, 0.4"), VP, .5 + .2 + .08, {.4, .3, .2, .1}, 0}, chain);
  for (const auto& [length, kept] : {std::pair{"0", 0.}, {"1.25", 1.25}, {"2", 2.}, {"9", 3.}})
    check({with("accept_synthetic", {{"length", length}}), VP, kept, {.4, .3, .2, .1}, 0}, chain);
  for (const char* bad : {"", "1.5", "0.5,", "-1", "x"})
    CHECK_THROWS_AS(enumerate({.tables = VB, .rule = rates(bad)}), InputError);
}

TEST_CASE("Thresholds of one coin emit their derived law, and p at 1") {
  const Choice best = tree("2", "top");  // of VB's q: tokens 3 and 2
  check({with("accept_threshold", {{"total", "0.5"}}), VB, .6, {8. / 35, 6. / 35, .4, .2}, .3},
        best);
  check({with("accept_threshold", {}), VB, .3, {.4, .3, .2, .1}, 0}, best);
  check({with("accept_threshold", {{"single", "0.15"}}), VB, 1, {0, 0, .9, .1}, .7}, best);
  check({with("accept_threshold", {{"total", "0.2"}}), VB, 1, {0, 0, .5, .5}, .7}, best);
  for (const char* mode : {"top", "iid", "new"})
    check_exact("at 1",
                {.tables = C1, .rule = {"accept_threshold"}, .drafter = tree("2;2,1", mode)});
}

TEST_CASE("Relaxed rules keep the longest good path of a tree, the likeliest of equals") {
  // Of two children in VP, both good, with two and one below them.
  const Finding f = enumerate({.tables = VP,
                               .rule = with("accept_top_delta", {{"top", "2"}, {"delta", "1"}}),
                               .drafter = tree("2;0,1", "top")});
  CHECK(f.accepted == Approx(2));
  CHECK(f.first.at({1}) == Approx(1));  // the path below the second child is the longer
  const Finding even = enumerate({.tables = VP,
                                  .rule = with("accept_top_delta", {{"top", "2"}, {"delta", "1"}}),
                                  .drafter = tree("2;1,1", "top")});
  CHECK(even.first.at({0}) == Approx(1));
}

TEST_CASE("At temperature 0 the relaxed rules are greedy match") {
  const std::vector<Choice> greedy{{"test_temperature", {{"t", "0"}}}};
  for (const Choice& rule : {with("accept_typical", {}), with("accept_lenient", {}),
                             with("accept_top_delta", {{"top", "3"}, {"delta", "0.6"}}),
                             with("accept_log_tolerance", {{"top", "3"}, {"tolerance", "5"}}),
                             with("accept_entropy", {})}) {
    INFO(rule.name);
    const Case c{.tables = C1, .rule = rule, .drafter = tree("2;1,1", "new"), .links = greedy};
    CHECK(enumerate(c).joint_tv < 1e-9);
  }
}

}  // namespace
}  // namespace redline::step
