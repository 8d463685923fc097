// SPDX-License-Identifier: Apache-2.0
// The gates let through what is drawn from p, name what is not, and can be put away and taken up.
#include "check/gates.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "check/statistics.hpp"

namespace redline::check {
namespace {

const Row kP = Row::dense(std::vector<float>{.4F, .3F, .2F, .1F});
const Row kQ = Row::dense(std::vector<float>{.1F, .2F, .3F, .4F});

// `count` tokens drawn from `law`, of which p and q are said to be the rows.
Gates fed(const Row& law, int count, std::uint32_t seed = 1, const Row* q = &kQ) {
  std::mt19937 g(seed);
  std::uniform_real_distribution<double> uniform;
  Gates gates;
  gates.begin_text();
  for (int k = 0; k < count; ++k) gates.token(law.pick(uniform(g)), kP, q, uniform(g));
  return gates;
}

double p_of(const Gates& gates, const std::string& name) {
  for (const Gate& gate : gates.report(1e-3))
    if (gate.name == name) return gate.p;
  FAIL("no gate " << name);
  return 0;
}

trace::StepRecord step_of(bool is_kept, float chance, float alpha) {
  trace::StepRecord r;
  r.n_nodes = 1;
  r.accepted_by_rule = is_kept ? 1 : 0;
  r.expected_accepted = chance;
  trace::NodeRecord node{};
  node.p_logprob = std::log(chance);
  node.q_logprob = 0;
  node.accept_prob = chance;
  node.alpha = alpha;
  r.nodes.push_back(node);
  r.decisions.push_back({0, 0, 1, 1, is_kept ? chance : 1 - chance, is_kept ? 1U : 0U});
  return r;
}

TEST_CASE("What is drawn from p passes every gate") {
  const auto gates = fed(kP, 20000).report(1e-3);
  CHECK(gates.size() == 6);
  for (const Gate& gate : gates) {
    INFO(gate.name);
    CHECK(gate.p > 1e-3);
  }
}

TEST_CASE("A bias of the size that a gate says it sees is seen") {
  // .4, .3, .2, .1 with a recovery drawn from p itself (TV .14) and from the noise that chose the
  // draft (TV .0333, to which the test of p above q is blind).
  const Row recovery_from_p = Row::dense(std::vector<float>{.26F, .32F, .28F, .14F});
  const Row shared_noise = Row::dense(std::vector<float>{13.F / 30, 4.F / 15, .2F, .1F});
  CHECK(p_of(fed(recovery_from_p, 1000), "p above q") < 1e-4);
  CHECK(p_of(fed(recovery_from_p, 1000), "log q") < 1e-4);
  CHECK(p_of(fed(shared_noise, 40000), "ranks, 64 bins") < 1e-4);
  CHECK(p_of(fed(shared_noise, 40000), "p above q") > 1e-3);
}

TEST_CASE("Without a draft model the ranks are by p") {
  const auto gates = fed(kP, 20000, 1, nullptr).report(1e-3);
  CHECK(gates.size() == 4);
  const Row flatter = Row::dense(std::vector<float>{.37F, .3F, .2F, .13F});
  CHECK(p_of(fed(flatter, 20000, 1, nullptr), "ranks, distance") < 1e-4);
}

TEST_CASE("A token that p rules out is counted") {
  Gates gates;
  gates.token(3, Row::point(4, 1), nullptr, .5);
  CHECK(gates.impossible() == 1);
}

TEST_CASE("Neighbours that lean on each other show in the lag alone") {
  Gates gates;
  std::mt19937 g(3);
  std::uniform_real_distribution<double> uniform;
  for (int k = 0; k < 2000; ++k) {
    gates.begin_text();
    const Token t = kP.pick(uniform(g));
    const double u = uniform(g);
    gates.token(t, kP, nullptr, u), gates.token(t, kP, nullptr, u);
  }
  CHECK(p_of(gates, "ranks, lag 1") < 1e-9);
}

TEST_CASE("Chances that are not what happens are named") {
  std::mt19937 g(5);
  const auto fed_steps = [&](double real, float chance, float alpha) {
    Gates gates;
    for (int k = 0; k < 5000; ++k)
      gates.step(step_of(std::bernoulli_distribution(real)(g), chance, alpha));
    return gates;
  };
  const Gates right = fed_steps(.7, .7F, .7F);
  for (const char* name : {"acceptance", "foretold acceptance"}) CHECK(p_of(right, name) > 1e-3);
  const Gates wrong = fed_steps(.6, .7F, .5F);
  for (const char* name : {"acceptance", "foretold acceptance", "overlap"})
    CHECK(p_of(wrong, name) < 1e-9);
}

TEST_CASE("Gates that are saved and taken up go on as they would have") {
  const Gates before = fed(kP, 3000);
  Gates after;
  after.restore(config::parse_json(config::to_json(before.state()), "state"));
  const auto a = before.report(1e-3), b = after.report(1e-3);
  REQUIRE(a.size() == b.size());
  for (std::size_t k = 0; k < a.size(); ++k) {
    CHECK(a[k].p == b[k].p);
    CHECK(a[k].reach == b[k].reach);
  }
  CHECK_THROWS_AS(after.restore(config::parse_json("{\"tokens\": 1}", "state")), InputError);
}

}  // namespace
}  // namespace redline::check
