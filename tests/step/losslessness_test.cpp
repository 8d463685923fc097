// SPDX-License-Identifier: Apache-2.0
// The shipped rules, enumerated as built: expected accepted tokens as published or derived, and the
// joint law of D+1 tokens equal to plain decoding's.
#include <catch2/catch.hpp>
#include <random>

#include "step/enumeration.hpp"

namespace redline::step {
namespace {

struct Vector {
  const char* name;
  const Pair& tables;
  const char *rule, *shape, *mode;
  double accepted;  // NaN: only the law is checked
};

void check(const Vector& v) {
  INFO(v.name << ' ' << v.rule << ' ' << v.shape << ' ' << v.mode);
  const Case c{.tables = v.tables,
               .rule = {v.rule},
               .drafter = {"test_table", {{"shape", v.shape}, {"mode", v.mode}}}};
  const Finding f = enumerate(c);
  CHECK(f.joint_tv < 1e-9);
  if (!std::isnan(v.accepted)) CHECK(std::abs(f.accepted - v.accepted) < 1e-6);
}

TEST_CASE("The ratio rule accepts as derived and emits p") {
  const Vector vectors[] = {
      {"VA", VA, "accept_ratio", "1", "iid", .7},
      {"VA", VA, "accept_ratio", "1;1", "iid", 1.19},
      {"VA", VA, "accept_ratio", "1;1;1", "iid", 1.533},
      {"VB", VB, "accept_ratio", "1", "iid", .6},
      {"VB", VB, "accept_ratio", "1;1", "iid", .96},
      {"VB", VB, "accept_ratio", "1;1;1", "iid", 1.176},
      {"VC", VC, "accept_ratio", "1", "iid", .55},
      {"V2", V2, "accept_ratio", "1;1", "iid", 10. / 9},
      {"C1", C1, "accept_ratio", "1;1", "iid", 1.355},
      {"p=q", VP, "accept_ratio", "1;1;1", "iid", 3},
      {"disjoint", VD, "accept_ratio", "1;1", "iid", 0},
      {"VB, coupled", VB, "accept_ratio", "1;1", "coupled", NAN},
      {"VB, argmax", VB, "accept_ratio", "1;1", "top", NAN},
  };
  for (const Vector& v : vectors) check(v);
}

TEST_CASE("Expected tokens of an i.i.d. chain follow the geometric series") {
  const Pair eight = flat({.8, .2, 0}, {.6, .2, .2});  // alpha = .8
  const double expected[] = {1.8, 2.44, 2.952, 3.3616};
  std::string shape = "1";
  for (const double tau : expected) {
    check({"alpha .8", eight, "accept_ratio", shape.c_str(), "iid", tau - 1});
    shape += ";1";
  }
}

TEST_CASE("The delta rule accepts the mass of its nodes and emits p") {
  const Vector vectors[] = {
      {"p = q, tree", VP, "accept_delta", "2;2,1", "top", NAN},
      {"p = q, tree {0:{0},1:{0}}", VP, "accept_delta", "2;1,1", "top", .7 + .4 * .7},
      {"VB, flat {3, 2}", VB, "accept_delta", "2", "top", .3},
      {"VB, chain", VB, "accept_delta", "1;1", "top", .1 + .01},
      {"VC", VC, "accept_delta", "3", "top", NAN},
      {"C1", C1, "accept_delta", "2;2,1", "top", NAN},
      {"VA, rows as deltas", VA, "accept_delta", "1", "iid", .29},
      {"VB, twins", VB, "accept_delta", "2", "iid", .35},
      {"VB, no twins", VB, "accept_delta", "2", "new", .419444},
      {"VB, coupled", VB, "accept_delta", "1;1", "coupled", NAN},
  };
  for (const Vector& v : vectors) check(v);
}

TEST_CASE("The delta rule on the tree {0:{0,1},1:{0}} keeps 1.1 tokens") {
  // VP's best two are 0 and 1; the second child of the second node does not exist in this shape.
  check({"VP", VP, "accept_delta", "2;2,1", "top", .4 + .3 + .16 + .12 + .12});
}

TEST_CASE("Plain-sample match accepts where two draws agree and emits p") {
  const Vector vectors[] = {
      {"VA", VA, "accept_match", "1", "iid", .29},
      {"VB", VB, "accept_match", "1", "iid", .2},
      {"VA i.i.d.", VA, "accept_match", "2", "iid", .483},
      {"VA new", VA, "accept_match", "2", "new", .613214},
      {"VA 3 i.i.d.", VA, "accept_match", "3", "iid", .6161},
      {"VA 3 new", VA, "accept_match", "3", "new", 1},
      {"VB i.i.d.", VB, "accept_match", "2", "iid", .35},
      {"VB new", VB, "accept_match", "2", "new", .419444},
      {"VB 3 i.i.d.", VB, "accept_match", "3", "iid", .4646},
      {"VB 3 new", VB, "accept_match", "3", "new", .673413},
      {"VC i.i.d.", VC, "accept_match", "2", "iid", .4375},
      {"VC new", VC, "accept_match", "2", "new", .5},
      {"VC 3 i.i.d.", VC, "accept_match", "3", "iid", .578125},
      {"VC 3 new", VC, "accept_match", "3", "new", .75},
      {"C1 tree", C1, "accept_match", "2;2,1", "iid", NAN},
      {"C1 greedy tree", C1, "accept_match", "2;1,1", "greedy", NAN},
      {"C1 gumbel", C1, "accept_gumbel", "2;1,1", "iid", NAN},
      {"VB gumbel, coupled", VB, "accept_gumbel", "1;1", "coupled", NAN},
  };
  for (const Vector& v : vectors) check(v);
}

Pair random_pair(std::mt19937& g) {  // V = 3, contexts to depth 2, exact zeros in p and q
  std::gamma_distribution<double> gamma(.5, 1);
  const auto law = [&] {
    std::vector<float> v(3);
    double sum = 0;
    while (sum < 1e-3) {
      sum = 0;
      for (float& x : v) sum += x = g() % 5 == 0 ? 0 : static_cast<float>(gamma(g));
    }
    for (float& x : v) x = static_cast<float>(x / sum);
    return v;
  };
  Pair out;
  for (Table* t : {&out.p, &out.q}) {
    (*t)[{}] = law();
    for (Token a = 0; a < 3; ++a) {
      (*t)[{a}] = law();
      for (Token b = 0; b < 3; ++b) (*t)[{a, b}] = law();
    }
  }
  return out;
}

TEST_CASE("Every rule emits p in random contexts with exact zeros") {
  const struct {
    const char *rule, *shape, *mode;
  } pairs[] = {
      {"accept_ratio", "1;1", "iid"},   {"accept_ratio", "1;1", "top"},
      {"accept_delta", "2;2,1", "top"}, {"accept_delta", "2;1,1", "new"},
      {"accept_match", "2;1,1", "new"}, {"accept_gumbel", "2;1,1", "coupled"},
  };
  for (const auto& t : pairs) {
    std::mt19937 g(11);
    for (int k = 0; k < 40; ++k) {
      const Pair tables = random_pair(g);
      check({"random", tables, t.rule, t.shape, t.mode, NAN});
    }
  }
}

TEST_CASE("Two steps in a row still emit p") {
  for (const char* rule : {"accept_ratio", "accept_delta", "accept_match"})
    for (const char* shape : {"1", "1;1"}) {
      INFO(rule << ' ' << shape);
      const Case c{
          .tables = C1, .rule = {rule}, .drafter = {"test_table", {{"shape", shape}}}, .steps = 2};
      CHECK(enumerate(c).joint_tv < 1e-9);
    }
}

TEST_CASE("A length policy that learns between steps leaves the law alone") {
  const Case c{.tables = C1,
               .rule = {"accept_ratio"},
               .drafter = {"test_table", {{"shape", "1;1;1"}}},
               .length = {"test_heuristic"},
               .steps = 2};
  CHECK(enumerate(c).joint_tv < 1e-9);
}

TEST_CASE("A confidence stop within the draft leaves the law alone") {
  const Case c{.tables = C1,
               .rule = {"accept_ratio"},
               .drafter = {"test_table", {{"shape", "1;1;1"}}},
               .length = {"test_length", {{"p_min", "0.45"}}}};
  CHECK(enumerate(c).joint_tv < 1e-9);
}

TEST_CASE("A stop token on the path ends the text and leaves its law alone") {
  for (const char* rule : {"accept_ratio", "accept_delta", "accept_match"}) {
    INFO(rule);
    const Case c{.tables = C1,
                 .rule = {rule},
                 .drafter = {"test_table", {{"shape", "1;1;1"}}},
                 .stops = {2}};
    CHECK(enumerate(c).joint_tv < 1e-9);
  }
}

TEST_CASE("One token left means no draft; no draft is plain decoding") {
  for (const char* rule : {"accept_ratio", "accept_delta", "accept_match", "accept_gumbel"}) {
    INFO(rule);
    const Finding last = enumerate({.tables = C1, .rule = {rule}, .tokens_left = 1});
    CHECK(last.accepted == 0);
    CHECK(last.joint_tv < 1e-9);
    CHECK(last.runs == 3);
    const Finding none = enumerate({.tables = C1,
                                    .rule = {rule},
                                    .length = {"test_length", {{"max_depth", "0"}}},
                                    .steps = 2});
    CHECK(none.joint_tv < 1e-9);
  }
}

TEST_CASE("Penalties and temperature follow each path, in p and in q") {
  const std::vector<Choice> warp{{"test_temperature", {{"t", "0.7"}}}, {"test_penalty"}};
  for (const bool both : {false, true})
    for (const char* rule : {"accept_ratio", "accept_delta"}) {
      INFO(rule << ' ' << both);
      const Case c{.tables = C1,
                   .rule = {rule},
                   .drafter = {"test_table", {{"shape", "1;1"}}},
                   .links = warp,
                   .links_on_draft = both};
      CHECK(enumerate(c).joint_tv < 1e-9);
    }
  const Case tree{.tables = C1,
                  .rule = {"accept_delta"},
                  .drafter = {"test_table", {{"shape", "2;2,1"}, {"mode", "top"}}},
                  .links = {{"test_no_repeat"}}};
  CHECK(enumerate(tree).joint_tv < 1e-9);
}

TEST_CASE("An illegal draft is kept and rejected, or masked in q; both are exact") {
  const std::vector<Choice> ban{{"test_ban", {{"token", "3"}}}};
  const Finding kept = enumerate({.tables = VB, .rule = {"accept_ratio"}, .links = ban});
  CHECK(kept.joint_tv < 1e-9);
  CHECK(std::abs(kept.accepted - .522222) < 1e-6);
  const Finding masked =
      enumerate({.tables = VB, .rule = {"accept_ratio"}, .links = ban, .links_on_draft = true});
  CHECK(masked.joint_tv < 1e-9);
  CHECK(std::abs(masked.accepted - .722222) < 1e-6);
}

}  // namespace
}  // namespace redline::step
