// SPDX-License-Identifier: Apache-2.0
// Published and derived figures that the other tests of the rules leave out: geometric series, laws
// of the kept count, chances of single decisions, slacks, orders that cost acceptance, and the laws
// that wrong implementations emit.
#include <cmath>

#include "check/closed_form.hpp"
#include "rules/claims.hpp"

namespace redline::step {
namespace {

std::string chain_of(int depth) {
  std::string shape = "1";
  while (--depth > 0) shape += ";1";
  return shape;
}

TEST_CASE("Expected tokens of a chain follow the geometric series, as tabulated") {
  const Pair eight = flat({.8F, .2F, 0}, {.6F, .2F, .2F});
  const struct {
    const Pair& tables;
    int depth;
    double tau;
  } table[] = {{eight, 1, 1.8},     {eight, 2, 2.44},     {eight, 3, 2.952},     {eight, 4, 3.3616},
               {eight, 5, 3.68928}, {eight, 7, 4.161139}, {eight, 10, 4.570503}, {VB, 1, 1.6},
               {VB, 2, 1.96},       {VB, 3, 2.176},       {VB, 4, 2.3056},       {VB, 5, 2.38336},
               {VB, 7, 2.458010},   {VB, 10, 2.490930}};
  for (const auto& row : table) {
    INFO(row.depth);
    const std::string shape = chain_of(row.depth);
    CHECK(check::kept_by("accept_ratio", row.tables, shape).value() ==
          Approx(row.tau - 1).margin(1e-6));
    if (row.depth <= 5)
      check_exact("series",
                  {.tables = row.tables, .rule = {"accept_ratio"}, .drafter = tree(shape, "iid")},
                  row.tau - 1);
  }
}

void check_counts(const char* rule, const Pair& tables, const std::vector<double>& chances) {
  INFO(rule);
  const Finding f = enumerate({.tables = tables, .rule = {rule}, .drafter = tree("1;1", "iid")});
  REQUIRE(f.by_count.size() == chances.size());
  for (std::size_t n = 0; n < chances.size(); ++n)
    CHECK(f.by_count[n] == Approx(chances[n]).margin(1e-6));
}

TEST_CASE("The number of kept tokens has the law derived for it") {
  check_counts("accept_ratio", VB, {.4, .24, .36});
  check_counts("accept_block", VB, {.4, .17, .43});
  check_counts("accept_block", C1, {.2, .19, .61});
}

class Asked final : public Draws {  // refuses everything and notes each chance
 public:
  std::map<Node, double> chances;

 private:
  bool do_bernoulli(Node n, double prob) override { return chances[n] = prob, false; }
  Token do_categorical(Node, const Row& row) override { return row.argmax(); }
  Token do_sample(Node, const Row& row) override { return row.argmax(); }
  Token do_gumbel_argmax(Node, const Row& row) override { return row.argmax(); }
};

TEST_CASE("Block verification of single paths in VB decides with the chances worked out by hand") {
  const Row p = Row::dense(VB.p.at({})), q = Row::dense(VB.q.at({}));
  const std::vector<Row> rows(3, p);
  const auto chances = [&](Token first, Token second) {
    Draft draft(4);
    draft.append({kRoot, first, redline::Law::ROW, q});
    draft.append({1, second, redline::Law::ROW, q});
    Asked asked;
    Cell host({.vocab = 4, .target = law_of(VB.p), .draft = law_of(VB.q)});
    registry().make<AcceptanceRule>("accept_block", {}, host)->judge(draft, rows, asked);
    return std::pair{asked.chances[1], asked.chances[2]};
  };
  CHECK(chances(3, 2).first == Approx(0).margin(1e-6));
  CHECK(chances(3, 2).second == Approx(1. / 6));
  CHECK(chances(2, 0).first == Approx(1. / 3));
  CHECK(chances(0, 3).first == Approx(1));
  CHECK(chances(0, 3).second == Approx(.25));
}

TEST_CASE("A deterministic tree is kept by the mass of its paths, in either direction") {
  // {0: {0, 1}, 1: {0}}: .4 + .3 + .4 (.4 + .3) + .3 * .4
  for (const char* rule : {"accept_delta", "accept_multiround", "accept_traversal"})
    check_exact("best of q = p", {.tables = VP, .rule = {rule}, .drafter = tree("2;2,1", "top")},
                1.1);
  for (const char* rule : {"accept_delta", "accept_multiround", "accept_traversal"})
    check_exact("{3, 2}", {.tables = VB, .rule = {rule}, .drafter = tree("2", "top")}, .3);
}

TEST_CASE("The chance that shared noise agrees is above its bound") {
  const auto agree = [](const Pair& t) {
    const std::vector<float>&p = t.p.at({}), &q = t.q.at({});
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      double over = 0;
      for (std::size_t j = 0; j < p.size(); ++j)
        over += std::max(double{p[j]} / p[i], double{q[j]} / q[i]);
      sum += 1 / over;
    }
    return sum;
  };
  CHECK(agree(VA) == Approx(41. / 65));
  CHECK(agree(VB) == Approx(19. / 35));
  CHECK(agree(VA) > (1 - .3) / (1 + .3));
}

TEST_CASE("k-SEQ's slack is the least that suffices") {
  const auto slack = [](const Pair& t, int k) { return check::kseq_slack(t, k); };
  CHECK(slack(VA, 2) == Approx(1.456776));
  CHECK(slack(VA, 3) == Approx(1.792593));
  CHECK(slack(VB, 2) == Approx(1.5));
  CHECK(slack(VB, 3) == Approx(1.9395));
  CHECK(slack(VC, 2) == Approx(1.557367));
  CHECK(slack(VC, 3) == Approx(1.951878));
}

TEST_CASE("At the greatest slack two siblings keep less than one") {
  const auto kept = [](const Pair& t) {
    return enumerate({.tables = t, .rule = {"wrong_kseq"}, .drafter = tree("2", "iid")}).accepted;
  };
  CHECK(kept(VA) == Approx(.6975));
  CHECK(kept(VB) == Approx(.64));
}

TEST_CASE("The greedy-draft scheme with its sample last is exact and keeps less") {
  const struct {
    const Pair& tables;
    const char* k;
    double accepted;
  } vectors[] = {{VA, "2", .82}, {VB, "3", .833333}, {VC, "2", .9}};
  for (const auto& v : vectors)
    check_exact(v.k,
                {.tables = v.tables,
                 .rule = {"accept_multiround"},
                 .drafter = {"greedy_last", {{"k", v.k}}}},
                v.accepted);
}

TEST_CASE("Entropies of the typical vectors are as worked out") {
  CHECK(Row::dense(std::vector<float>{.6F, .25F, .1F, .05F}).entropy() == Approx(1.033114));
  CHECK(Row::dense(std::vector<float>{.94F, .03F, .02F, .01F}).entropy() == Approx(.287652));
}

void check_emitted(const char* id, const Case& c, const std::vector<double>& law) {
  INFO(id);
  const Finding f = enumerate(c);
  for (std::size_t t = 0; t < law.size(); ++t) {
    const auto it = f.first.find({static_cast<Token>(t)});
    CHECK((it == f.first.end() ? 0 : it->second) == Approx(law[t]).margin(1e-6));
  }
}

TEST_CASE("Every mutant emits the law derived for it") {
  const auto of_rule = [](const char* rule, const char* shape) {
    return Case{.tables = VB, .rule = {rule}, .drafter = tree(shape, "iid")};
  };
  const auto of_drafter = [](const char* drafter, const char* children) {
    return Case{.tables = VB,
                .rule = {"accept_multiround"},
                .drafter = {drafter, {{"children", children}}}};
  };
  check_emitted("N1", of_rule("n1", "1"), {.26, .32, .28, .14});
  check_emitted("N2", of_rule("n2", "1"), {.283333, .3375, .266667, .1125});
  check_emitted("N3", of_drafter("n3", "1"), {.5625, .1875, 0, .25});
  check_emitted("N4", of_drafter("n4", "1"), {.408333, .258333, .2, .133333});
  check_emitted("N5", of_rule("n5", "2"), {.373214, .326786, .2, .1});
  check_emitted("N6", of_drafter("n6", "2"), {.356633, .343367, .2, .1});
  check_emitted("N7", of_drafter("n7", "2"), {.4375, .2625, .2, .1});
  check_emitted("N8", of_rule("n8", "2"), {.403571, .336429, .22, .04});
  check_emitted("N8 by q", of_rule("n8_by_q", "2"), {.396429, .263571, .18, .16});
  check_emitted("N10", of_drafter("n10", "2"), {.75, 0, 0, .25});
  check_emitted("N11", of_drafter("n11", "1"), {.42, .19, .26, .13});
  check_emitted("N13", of_rule("n13", "1;1"), {.55, .35, .1, 0});
  check_emitted("N14", of_rule("n14", "1;1"), {.4, .3, .2, .1});
  check_emitted("N15", of_drafter("n15", "1"), {.3625, .3775, .22, .04});
  Case masked = of_drafter("n12", "1");
  masked.links = {{"test_ban", {{"token", "3"}}}};
  check_emitted("N12", masked, {.333850, .355039, .311111, 0});
}

TEST_CASE("A residual of one token hides four of them") {
  const auto hidden = [](const Case& c) { return enumerate(c).first_tv; };
  CHECK(hidden({.tables = VA, .rule = {"n5"}, .drafter = tree("2", "iid")}) < 1e-6);
  for (const char* drafter : {"n6", "n7"})
    CHECK(hidden({.tables = VA,
                  .rule = {"accept_multiround"},
                  .drafter = {drafter, {{"children", "2"}}}}) < 1e-6);
}

}  // namespace
}  // namespace redline::step
