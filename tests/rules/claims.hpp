// SPDX-License-Identifier: Apache-2.0
// What the tests of the rules share: one enumerated vector checked, random tables with exact zeros,
// and the law of the first emitted token.
#pragma once
#include <catch2/catch.hpp>
#include <limits>
#include <random>

#include "step/enumeration.hpp"

namespace redline::step {

inline constexpr double kAny = std::numeric_limits<double>::quiet_NaN();  // only the law is checked

inline Choice tree(const std::string& shape, const std::string& method) {
  return {"test_table", {{"shape", shape}, {"mode", method}}};
}

// The rule emits p over D+1 tokens jointly, keeps the expected number of tokens, and foretells it.
inline void check_exact(const char* about, const Case& c, double accepted = kAny) {
  std::string drafter = c.drafter.name;
  for (const auto& [key, value] : c.drafter.values) drafter += ' ' + key + '=' + value;
  INFO(about << ": " << c.rule.name << " of " << drafter);
  const Finding f = enumerate(c);
  CHECK(f.joint_tv < 1e-9);
  if (!std::isnan(f.expected)) CHECK(std::abs(f.expected - f.accepted) < 1e-6);
  if (!std::isnan(accepted)) CHECK(std::abs(f.accepted - accepted) < 1e-6);
}

inline std::vector<float> random_law(std::mt19937& g, int vocab) {  // Dirichlet(0.5) with zeros
  std::gamma_distribution<double> gamma(.5, 1);
  std::vector<float> v(vocab);
  double sum = 0;
  while (sum < 1e-3) {
    sum = 0;
    for (float& x : v) sum += x = g() % 5 == 0 ? 0 : static_cast<float>(gamma(g));
  }
  for (float& x : v) x = static_cast<float>(x / sum);
  return v;
}

inline Pair random_pair(std::mt19937& g) {  // V = 3, contexts to depth 2
  Pair out;
  for (Table* t : {&out.p, &out.q}) {
    (*t)[{}] = random_law(g, 3);
    for (Token a = 0; a < 3; ++a) {
      (*t)[{a}] = random_law(g, 3);
      for (Token b = 0; b < 3; ++b) (*t)[{a, b}] = random_law(g, 3);
    }
  }
  return out;
}

}  // namespace redline::step
