// SPDX-License-Identifier: Apache-2.0
// Multi-round, block and traversal verification as built, enumerated: expected accepted tokens as
// published or derived, and the joint law of D+1 tokens equal to plain decoding's.
#include "rules/claims.hpp"

namespace redline::step {
namespace {

struct Vector {
  const char* name;
  const Pair& tables;
  const char *rule, *shape, *mode;
  double accepted;
};
void check(const Vector& v) {
  check_exact(v.name, {.tables = v.tables, .rule = {v.rule}, .drafter = tree(v.shape, v.mode)},
              v.accepted);
}

const Pair kExhausted = flat({.2, .3, .5}, {.5, .5, 0});

TEST_CASE("Multi-round rejection accepts as published, i.i.d. and without replacement") {
  const char* const rule = "accept_multiround";
  const Vector vectors[] = {
      {"VA", VA, rule, "1", "iid", .7},
      {"VA", VA, rule, "1;1", "iid", 1.19},
      {"VA", VA, rule, "2", "iid", .76},
      {"VA", VA, rule, "3", "iid", .808},
      {"VB", VB, rule, "2", "iid", .72},
      {"VB", VB, rule, "3", "iid", .768},
      {"VC", VC, rule, "2", "iid", .6625},
      {"VC", VC, rule, "3", "iid", .746875},
      {"VA", VA, rule, "2", "new", .82},
      {"VA", VA, rule, "3", "new", 1},
      {"VB", VB, rule, "2", "new", .764286},
      {"VB", VB, rule, "3", "new", .840298},
      {"VC", VC, rule, "2", "new", .7},
      {"VC", VC, rule, "3", "new", .85},
      {"exhausted", kExhausted, rule, "1", "new", .5},
      {"exhausted", kExhausted, rule, "2", "new", .5},
      {"exhausted", kExhausted, rule, "3", "new", 1},
      {"VB", VB, rule, "2;1,1", "new", 1.222857},
      {"VB", VB, rule, "2;2,1", "new", 1.321429},
      {"VA", VA, rule, "2;1,1", "new", 1.394},
      {"VA", VA, rule, "2;1,1", "iid", 1.292},
      {"C1", C1, rule, "2;1,1", "new", 1.553333},
      {"deltas", VB, rule, "2", "top", .3},
      {"p = q", VP, rule, "2;1,1", "iid", 2},
      {"disjoint", VD, rule, "2;1,1", "iid", 0},
  };
  for (const Vector& v : vectors) check(v);
}

TEST_CASE("The greedy-draft scheme reaches its optimum when the sampled child is tested first") {
  for (const char* rule : {"accept_multiround", "accept_traversal"}) {
    const Vector vectors[] = {
        {"VA", VA, rule, "2", "greedy", .9},
        {"VA", VA, rule, "3", "greedy", 1},
        {"VB", VB, rule, "2", "greedy", .766667},
        {"VB", VB, rule, "3", "greedy", .933333},
        {"VC", VC, rule, "2", "greedy", 1},
        {"VC", VC, rule, "3", "greedy", 1},
        {"C1 tree", C1, rule, "2;2,1", "greedy", kAny},
    };
    for (const Vector& v : vectors) check(v);
  }
}

TEST_CASE("Block verification accepts as published") {
  const char* const rule = "accept_block";
  const Vector vectors[] = {
      {"VA", VA, rule, "1", "iid", .7},        {"VA", VA, rule, "1;1", "iid", 1.25},
      {"VA", VA, rule, "1;1;1", "iid", 1.695}, {"VB", VB, rule, "1;1", "iid", 1.03},
      {"VB", VB, rule, "1;1;1", "iid", 1.346}, {"V2", V2, rule, "1;1", "iid", 11. / 9},
      {"C1", C1, rule, "1;1", "iid", 1.41},    {"p = q", VP, rule, "1;1;1", "iid", 3},
      {"disjoint", VD, rule, "1;1", "iid", 0}, {"deltas", VB, rule, "1;1", "top", .11},
  };
  for (const Vector& v : vectors) check(v);
}

TEST_CASE("Traversal verification accepts as published: chains as block, flat as multi-round") {
  const char* const rule = "accept_traversal";
  const Vector vectors[] = {
      {"VA chain", VA, rule, "1;1", "iid", 1.25},     {"VB chain", VB, rule, "1;1;1", "iid", 1.346},
      {"C1 chain", C1, rule, "1;1", "iid", 1.41},     {"VB flat", VB, rule, "2", "iid", .72},
      {"VB flat", VB, rule, "3", "new", .840298},     {"VB", VB, rule, "2;1,1", "new", 1.301429},
      {"VB", VB, rule, "2;2,1", "new", 1.374524},     {"VA", VA, rule, "2;1,1", "new", 1.454},
      {"VA", VA, rule, "2;1,1", "iid", 1.352},        {"C1", C1, rule, "2;1,1", "new", 1.608333},
      {"exhausted", kExhausted, rule, "3", "new", 1}, {"deltas", VB, rule, "2", "top", .3},
      {"p = q", VP, rule, "2;1,1", "iid", 2},         {"disjoint", VD, rule, "2;1,1", "iid", 0},
  };
  for (const Vector& v : vectors) check(v);
}

TEST_CASE("Every tree rule emits p on every shape, in random contexts with exact zeros") {
  const struct {
    const char *shape, *mode;
    int contexts;
  } trees[] = {{"1;1;1", "iid", 10},   {"3", "iid", 40},       {"3", "new", 40},
               {"2;1,1", "iid", 20},   {"2;1,1", "new", 40},   {"2;2,1", "new", 10},
               {"2;2,0", "new", 20},   {"3;1,0,0", "new", 20}, {"2;2,1", "top", 40},
               {"2;2,1", "greedy", 40}};
  for (const char* rule : {"accept_multiround", "accept_traversal"})
    for (const auto& t : trees) {
      std::mt19937 g(11);
      for (int k = 0; k < t.contexts; ++k) {
        const Pair tables = random_pair(g);
        check({"random", tables, rule, t.shape, t.mode, kAny});
      }
    }
}

TEST_CASE("Block verification emits p in 200 random contexts with exact zeros") {
  for (const char* mode : {"iid", "top"}) {
    std::mt19937 g(12);
    for (int k = 0; k < 200; ++k) {
      const Pair tables = random_pair(g);
      check({"random", tables, "accept_block", "1;1", mode, kAny});
    }
  }
}

TEST_CASE("Two steps, stop tokens and penalties along the path leave the law alone") {
  const std::vector<Choice> warp{{"test_temperature", {{"t", "0.7"}}}, {"test_penalty"}};
  for (const char* rule : {"accept_multiround", "accept_block", "accept_traversal"}) {
    check_exact("two steps",
                {.tables = C1, .rule = {rule}, .drafter = tree("1;1", "iid"), .steps = 2});
    check_exact("stop",
                {.tables = C1, .rule = {rule}, .drafter = tree("1;1;1", "iid"), .stops = {2}});
    for (const bool both : {false, true})
      check_exact("penalties", {.tables = C1,
                                .rule = {rule},
                                .drafter = tree("1;1", "iid"),
                                .links = warp,
                                .links_on_draft = both});
  }
  for (const char* rule : {"accept_multiround", "accept_traversal"}) {
    check_exact("two steps, flat",
                {.tables = C1, .rule = {rule}, .drafter = tree("2", "iid"), .steps = 2});
    check_exact("stop on a tree",
                {.tables = C1, .rule = {rule}, .drafter = tree("2;1,1", "new"), .stops = {2}});
    check_exact("one token left",
                {.tables = C1, .rule = {rule}, .drafter = tree("2;1,1", "new"), .tokens_left = 1},
                0);
  }
}

}  // namespace
}  // namespace redline::step
