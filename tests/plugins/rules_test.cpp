// SPDX-License-Identifier: Apache-2.0
// What each rule asks of chance and what it makes of the answers. That the outcome's law is the
// target's is enumerated with the step.
#include <catch2/catch.hpp>
#include <cmath>

#include "stage.hpp"

using namespace redline;
using stage::registry;

namespace {

const Row kP = Row::dense(std::vector<float>{.4F, .3F, .2F, .1F}),
          kQ = Row::dense(std::vector<float>{.1F, .2F, .3F, .4F});

std::unique_ptr<AcceptanceRule> rule(const std::string& name) {
  stage::Host host;
  return registry().make<AcceptanceRule>(name, {}, host);
}
Draft chain(std::vector<Token> tokens, Law law = Law::ROW) {
  Draft d(4);
  for (const Token t : tokens) d.append({d.size(), t, law, kQ});
  return d;
}
std::vector<Row> rows(const Draft& d) { return std::vector<Row>(d.size() + 1, kP); }

struct Judged {
  Verdict verdict;
  std::string calls;
  std::vector<double> probs;
};
Judged judge(const std::string& name, const Draft& d, std::vector<int> script) {
  stage::Draws draws(std::move(script));
  const Verdict v = rule(name)->judge(d, rows(d), draws);
  return {v, draws.calls, draws.probs};
}

}  // namespace

TEST_CASE("accept_match follows the target's own draws") {
  const auto all = judge("accept_match", chain({2, 1}), {2, 1, 3});
  CHECK(all.verdict.keep == 2);
  CHECK(all.verdict.next == 3);
  CHECK(all.calls == "sss");
  const auto miss = judge("accept_match", chain({2, 1}), {0});
  CHECK(miss.verdict.keep == kRoot);
  CHECK(miss.verdict.next == 0);
}

TEST_CASE("accept_ratio tests p over q and draws a miss from the residual") {
  const auto miss = judge("accept_ratio", chain({0, 3}), {1, 0, 1});
  CHECK(miss.verdict.keep == 1);
  CHECK(miss.verdict.next == 1);
  CHECK(miss.probs[0] == 1);
  CHECK(miss.probs[1] == Approx(.25).epsilon(1e-6));
  CHECK_THROWS(judge("accept_ratio", chain({3}), {0, 2}));  // 2 is not in the residual
  CHECK(judge("accept_ratio", chain({0}), {1, 2}).verdict.keep == 1);
}

TEST_CASE("accept_delta takes a refused token off the target's row") {
  Draft d(4);
  d.append({0, 3}), d.append({0, 2}), d.append({2, 0});
  const auto r = judge("accept_delta", d, {0, 1, 0, 1});
  CHECK(r.verdict.keep == 2);
  CHECK(r.verdict.next == 1);
  CHECK(r.probs[0] == Approx(.1).epsilon(1e-6));
  CHECK(r.probs[1] == Approx(.2 / .9).epsilon(1e-6));
  CHECK(r.probs[2] == Approx(.4).epsilon(1e-6));
  CHECK(r.calls == "bbbc");
}

TEST_CASE("accept_gumbel draws with the noise a coupled drafter shares") {
  const auto r = judge("accept_gumbel", chain({2}, Law::COUPLED), {2, 0});
  CHECK(r.verdict.keep == 1);
  CHECK(r.calls == "gg");
}

TEST_CASE("each rule tells what it promises and expects") {
  CHECK(rule("accept_match")->contract().claim == Claim::CONDITIONALLY_LOSSLESS);
  CHECK(rule("accept_delta")->contract().claim == Claim::CONDITIONALLY_LOSSLESS);
  CHECK(rule("accept_gumbel")->contract().reads.coupled);
  CHECK(rule("accept_ratio")->contract().claim == Claim::MARGINALLY_LOSSLESS);
  CHECK(rule("accept_ratio")->contract().shape == Shape::CHAIN);
  const Draft d = chain({3, 0});
  CHECK(rule("accept_match")->expected_accepted(d, rows(d)) == Approx(.1 + .1 * .4).epsilon(1e-6));
  CHECK(rule("accept_ratio")->expected_accepted(d, rows(d)) == Approx(.25 + .25).epsilon(1e-6));
  const Draft coupled = chain({3}, Law::COUPLED);
  CHECK(std::isnan(rule("accept_gumbel")->expected_accepted(coupled, rows(coupled))));
}

TEST_CASE("length_fixed gives every sequence the same budget") {
  stage::Host host;
  const auto budget = [&](const plugin::Arguments& a) {
    const Sequence s;
    const Turn turn{s, nullptr};
    return registry().make<DraftLength>("length_fixed", a, host)->choose({&turn, 1}).front();
  };
  CHECK(budget({}).max_depth == 4);
  CHECK(budget({}).max_nodes == 4);
  CHECK(budget({{"max_depth", "3", ""}, {"max_nodes", "16", ""}}).max_nodes == 16);
  CHECK(budget({{"max_depth", "0", ""}}).max_nodes == 0);
}
