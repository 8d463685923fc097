// SPDX-License-Identifier: Apache-2.0
// k-SEQ, optimal transport and ordered path selection as built, enumerated.
#include "rules/claims.hpp"

namespace redline::step {
namespace {

struct Vector {
  const Pair& tables;
  const char *shape, *mode;
  double accepted;
};
void check(const char* rule, std::initializer_list<Vector> vectors) {
  for (const Vector& v : vectors)
    check_exact("vector", {.tables = v.tables, .rule = {rule}, .drafter = tree(v.shape, v.mode)},
                v.accepted);
}
void check_random(const char* rule, const char* shape, const char* mode, int contexts) {
  std::mt19937 g(17);
  for (int k = 0; k < contexts; ++k) {
    const Pair tables = random_pair(g);
    check_exact("random", {.tables = tables, .rule = {rule}, .drafter = tree(shape, mode)});
  }
}

TEST_CASE("k-SEQ accepts as derived at the least slack") {
  check("accept_kseq", {{VA, "1", "iid", .7},
                        {VA, "2", "iid", .791355},
                        {VA, "3", "iid", .858519},
                        {VB, "2", "iid", .75},
                        {VB, "3", "iid", .793950},
                        {VC, "2", "iid", .689342},
                        {VC, "3", "iid", .787969},
                        {VP, "2", "iid", 1},
                        {VD, "2", "iid", 0},
                        {C1, "1;1", "iid", 1.355},
                        {VB, "2;1,1", "new", 1.222857},
                        {VB, "2", "top", .3},
                        {C1, "2;2,1", "greedy", kAny}});
}

TEST_CASE("Optimal transport accepts its bound") {
  check("accept_optimal", {{VA, "1", "iid", .7},
                           {VA, "2", "iid", .86},
                           {VA, "3", "iid", .988},
                           {VB, "2", "iid", .79},
                           {VB, "3", "iid", .871},
                           {VC, "2", "iid", .7375},
                           {VC, "3", "iid", .878125},
                           {VA, "2", "new", .985714},
                           {VA, "3", "new", 1},
                           {VB, "2", "new", .834524},
                           {VB, "3", "new", 1},
                           {VC, "2", "new", .8},
                           {VC, "3", "new", 1},
                           {VP, "2", "iid", 1},
                           {VD, "2", "iid", 0},
                           {VB, "2", "top", .3},
                           {C1, "1;1", "iid", 1.355},
                           {C1, "2;2,1", "new", kAny}});
}

// As traced: of the children of the root, which all have one law.
double traced_bound(const Pair& tables, const char* shape, const char* mode) {
  CellSpec spec{.vocab = static_cast<std::int32_t>(tables.p.at({}).size()),
                .target = check::law_of(tables.p),
                .draft = check::law_of(tables.q),
                .drafter = tree(shape, mode),
                .rule = {"accept_delta"},
                .links = {},
                .level = trace::Level::CHOSEN,
                .optimal = true};
  Cell cell(spec);
  Philox noise;
  Sequence s = cell.open({0}, 0, 100);
  return cell.run(s, noise).record.nodes.at(0).optimal;
}

TEST_CASE("No lossless rule keeps more than the traced bound, and transport keeps all of it") {
  std::mt19937 g(29);
  for (int k = 0; k < 25; ++k) {
    const Pair tables = random_pair(g);
    for (const auto& [shape, mode] : {std::pair{"1", "iid"}, std::pair{"2", "iid"},
                                      std::pair{"3", "iid"}, std::pair{"2", "new"}}) {
      const double bound = traced_bound(tables, shape, mode);
      if (std::isnan(bound)) continue;  // q leaves nothing to a second draw
      for (const char* rule : {"accept_optimal", "accept_multiround", "accept_traversal",
                               "accept_kseq", "accept_delta"}) {
        const double kept =
            enumerate({.tables = tables, .rule = {rule}, .drafter = tree(shape, mode)}).accepted;
        INFO(rule << ' ' << shape << ' ' << mode);
        CHECK(kept <= bound + 1e-6);
        if (std::string_view(rule) == "accept_optimal") CHECK(kept == Approx(bound).margin(1e-6));
      }
    }
  }
}

TEST_CASE("Ordered path selection accepts as derived") {
  check("accept_ordered", {{VA, "2", "iid", .86},
                           {VA, "2;1,1", "iid", 1.5508},
                           {VB, "2", "iid", .79},
                           {C1, "2;1,1", "iid", 1.692},
                           {VA, "3", "iid", .913},
                           {C1, "2", "iid", .94},
                           {C1, "3", "iid", .816},
                           {VB, "1;1", "iid", 1.03},
                           {VP, "2;1,1", "iid", kAny},
                           {VD, "2;1,1", "iid", 0},
                           {VB, "1;1", "top", .11}});
}

TEST_CASE("All three emit p in random contexts with exact zeros") {
  check_random("accept_kseq", "3", "iid", 60);
  check_random("accept_kseq", "2;2,1", "iid", 10);
  check_random("accept_kseq", "2;2,0", "new", 20);
  check_random("accept_kseq", "2;2,1", "greedy", 40);
  check_random("accept_optimal", "3", "iid", 60);
  check_random("accept_optimal", "3", "new", 60);
  check_random("accept_optimal", "2;1,1", "new", 30);
  check_random("accept_optimal", "2;2,1", "top", 30);
  check_random("accept_ordered", "3", "iid", 60);
  check_random("accept_ordered", "2;1,1", "iid", 30);
  check_random("accept_ordered", "1;1", "iid", 60);
  check_random("accept_ordered", "2;1,1;1,1", "iid", 6);
}

TEST_CASE("Two steps, stop tokens and confidence stops leave their laws alone") {
  for (const char* rule : {"accept_kseq", "accept_optimal", "accept_ordered"}) {
    check_exact("two steps",
                {.tables = C1, .rule = {rule}, .drafter = tree("2", "iid"), .steps = 2});
    check_exact("stop",
                {.tables = C1, .rule = {rule}, .drafter = tree("2;1,1", "iid"), .stops = {2}});
    check_exact("confidence", {.tables = C1,
                               .rule = {rule},
                               .drafter = tree("2;1,1", "iid"),
                               .length = {"test_length", {{"p_min", ".45"}}}});
    check_exact("one token left",
                {.tables = C1, .rule = {rule}, .drafter = tree("2", "iid"), .tokens_left = 1}, 0);
  }
}

TEST_CASE("A draft these rules would be wrong about is refused, not judged") {
  const auto run = [](const char* rule, const char* shape, const char* mode) {
    return [=] { enumerate({.tables = VB, .rule = {rule}, .drafter = tree(shape, mode)}); };
  };
  CHECK_THROWS_AS(run("accept_optimal", "2", "greedy")(), Error);
  CHECK_THROWS_WITH(run("accept_optimal", "2", "greedy")(),
                    Catch::Matchers::Contains("siblings of several laws"));
  for (const auto& [shape, mode] : {std::pair{"2", "new"}, std::pair{"2", "top"},
                                    std::pair{"1;2", "iid"}, std::pair{"2;2,1", "iid"}}) {
    CHECK_THROWS_WITH(run("accept_ordered", shape, mode)(),
                      Catch::Matchers::Contains("not i.i.d. paths"));
  }
}

TEST_CASE("Optimal transport is refused where a flow would be too large") {
  Pair wide;
  wide.p[{}] = wide.q[{}] = std::vector<float>(65, 1.F / 65);
  CHECK_THROWS_WITH(enumerate({.tables = wide, .rule = {"accept_optimal"}}),
                    Catch::Matchers::Contains("V = 65"));
}

}  // namespace
}  // namespace redline::step
