// SPDX-License-Identifier: Apache-2.0
// Both halves of paper_greedy as built, enumerated: the paper's optimum, and plain decoding's law.
#include "rules/claims.hpp"

namespace redline::step {
namespace {

Choice drafted(int k) {
  return {"paper_greedy_draft", {{"model", "draft"}, {"k", std::to_string(k)}}};
}
Choice budget(int nodes, int depth, const char* p_min = "0") {
  return {"test_length",
          {{"max_nodes", std::to_string(nodes)},
           {"max_depth", std::to_string(depth)},
           {"p_min", p_min}}};
}
const Choice kRule{"paper_greedy_accept"};

// p(T) + sum over y outside T of min(p, q'), q' = q outside the k - 1 best of it.
TEST_CASE("One level of the pair accepts the optimum") {
  const struct {
    const Pair& tables;
    int k;
    double accepted;
  } vectors[] = {{VA, 1, .7}, {VA, 2, .9}, {VA, 3, 1}, {VB, 2, .766667}, {VB, 3, .933333},
                 {VC, 2, 1},  {VC, 3, 1},  {VP, 4, 1}, {C1, 2, 1}};
  for (const auto& v : vectors)
    check_exact(
        "vector",
        {.tables = v.tables, .rule = kRule, .drafter = drafted(v.k), .length = budget(v.k, 1)},
        v.accepted);
}

TEST_CASE("The pair keeps the law in random contexts with exact zeros") {
  std::mt19937 g(23);
  for (int n = 0; n < 40; ++n) {
    const Pair tables = random_pair(g);
    for (const int k : {1, 2, 3, 4})
      check_exact("random",
                  {.tables = tables, .rule = kRule, .drafter = drafted(k), .length = budget(8, 2)});
  }
}

TEST_CASE("Budgets, confidence stops and stop tokens cut the pair's levels without a bias") {
  const auto cut = [](const Choice& length, std::vector<Token> stops = {}) {
    check_exact("cut", {.tables = C1,
                        .rule = kRule,
                        .drafter = drafted(2),
                        .length = length,
                        .stops = std::move(stops)});
  };
  for (const int nodes : {0, 1, 2, 3, 4}) cut(budget(nodes, 2));
  cut(budget(64, 2, ".45"));
  cut(budget(64, 2), {2});
}

TEST_CASE("The pair's rule is lossless for drafts it was not made for") {
  const std::pair<const char*, const char*> trees[] = {
      {"1;1", "iid"}, {"3", "iid"}, {"3", "new"}, {"2;2,1", "greedy"}, {"2;2,1", "top"}};
  std::mt19937 g(29);
  for (const auto& [shape, method] : trees)
    for (int n = 0; n < 20; ++n) {
      const Pair tables = random_pair(g);
      check_exact(shape, {.tables = tables, .rule = kRule, .drafter = tree(shape, method)});
    }
}

TEST_CASE("The pair's levels are verified by other rules too, below the optimum or at it") {
  const auto accepted = [](const char* rule) {
    return enumerate({.tables = VB, .rule = {rule}, .drafter = drafted(3), .length = budget(3, 1)})
        .accepted;
  };
  CHECK(accepted("accept_multiround") == Approx(.933333).epsilon(1e-5));
  CHECK(accepted("accept_delta") < .93);
}

}  // namespace
}  // namespace redline::step
