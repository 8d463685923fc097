// SPDX-License-Identifier: Apache-2.0
// The shipped tree drafter with the shipped tree rules, enumerated: counts as published, the joint
// law equal to plain decoding's whatever cuts the tree.
#include "rules/claims.hpp"

namespace redline::step {
namespace {

Choice drafted(const std::string& shape, const std::string& method) {
  return {"draft_tree", {{"model", "draft"}, {"shape", shape}, {"method", method}}};
}
Choice budget(int nodes, int depth, const char* p_min = "0") {
  return {"test_length",
          {{"max_nodes", std::to_string(nodes)},
           {"max_depth", std::to_string(depth)},
           {"p_min", p_min}}};
}

TEST_CASE("draft_tree draws siblings as its method says") {
  const struct {
    const Pair& tables;
    const char *rule, *shape, *method;
    double accepted;
  } vectors[] = {
      {VB, "accept_multiround", "2;1", "iid", kAny},
      {VA, "accept_multiround", "2;1", "iid", 1.292},
      {VA, "accept_traversal", "2;1", "iid", 1.352},
      {VB, "accept_multiround", "2;1", "new", 1.222857},
      {VB, "accept_multiround", "2;2,1", "new", 1.321429},
      {VB, "accept_traversal", "2;2,1", "new", 1.374524},
      {C1, "accept_traversal", "2;1,1", "new", 1.608333},
      {VA, "accept_multiround", "2", "greedy", .9},
      {VB, "accept_multiround", "3", "greedy", .933333},
      {VC, "accept_traversal", "2", "greedy", 1},
      {VB, "accept_delta", "2", "top", .3},
      {VB, "accept_block", "1;1", "iid", 1.03},
  };
  for (const auto& v : vectors)
    check_exact(v.shape,
                {.tables = v.tables, .rule = {v.rule}, .drafter = drafted(v.shape, v.method)},
                v.accepted);
}

TEST_CASE("draft_tree keeps the law in random contexts with exact zeros") {
  const std::pair<const char*, const char*> trees[] = {
      {"3", "iid"},          {"3;1,0", "new"}, {"4", "new"},    {"2;2,0", "greedy"},
      {"3;1,0,0", "greedy"}, {"4", "greedy"},  {"2;2,1", "top"}};
  for (const char* rule : {"accept_multiround", "accept_traversal"})
    for (const auto& [shape, method] : trees) {
      std::mt19937 g(13);
      for (int k = 0; k < 20; ++k) {
        const Pair tables = random_pair(g);
        check_exact("random",
                    {.tables = tables, .rule = {rule}, .drafter = drafted(shape, method)});
      }
    }
}

TEST_CASE("Budgets, confidence stops and stop tokens cut a tree without a bias") {
  for (const char* method : {"iid", "new", "greedy"}) {
    const auto cut = [&](const Choice& length, std::vector<Token> stops = {}) {
      check_exact(method, {.tables = C1,
                           .rule = {"accept_traversal"},
                           .drafter = drafted("2;2,1", method),
                           .length = length,
                           .stops = std::move(stops)});
    };
    for (const int nodes : {0, 1, 2, 4, 5}) cut(budget(nodes, 2));
    cut(budget(64, 1));
    cut(budget(64, 8, ".45"));
    cut(budget(64, 8), {2});
  }
}

TEST_CASE("A level beyond the node budget is left out whole") {
  const auto accepted = [](int nodes) {
    return enumerate({.tables = VP,
                      .rule = {"accept_multiround"},
                      .drafter = drafted("2;1", "new"),
                      .length = budget(nodes, 8)})
        .accepted;
  };
  CHECK(accepted(1) == Approx(0).margin(1e-9));
  CHECK(accepted(3) == Approx(1));
  CHECK(accepted(4) == Approx(2));
}

TEST_CASE("draft_tree asks its model once a level, and for nothing below the last") {
  const auto law = hashed(8, 3, 4);
  Cell cell({.vocab = 8,
             .target = law,
             .draft = law,
             .drafter = drafted("3;2,1,1;1", "new"),
             .rule = {"accept_multiround"}});
  Sequence s = cell.open({0}, 0, 100);
  Philox chance;
  CHECK(cell.run(s, chance).drafted == 3);
  CHECK(cell.draft.forwards == 3);
  CHECK(cell.draft.rows == 1 + 3 + 4);
  CHECK(cell.target.rows == 1 + 3 + 4 + 4);
}

TEST_CASE("A shape that cannot be read is refused by the place where it fails") {
  const auto made = [](const char* shape) {
    return [shape] {
      enumerate({.tables = VA, .rule = {"accept_delta"}, .drafter = drafted(shape, "top")});
    };
  };
  for (const char* bad : {"", ";", "2;", "x", "2,,1", "-1", "2 1", "99"}) {
    INFO('\'' << bad << '\'');
    CHECK_THROWS_AS(made(bad)(), InputError);
  }
  CHECK_THROWS_WITH(made("2;a")(), Catch::Matchers::Contains("at character 2"));
}

}  // namespace
}  // namespace redline::step
