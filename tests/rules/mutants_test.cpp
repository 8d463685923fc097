// SPDX-License-Identifier: Apache-2.0
// The proofs of these rules can fail: a drafter that lies about its law biases each of them by what
// was derived, and rules wrong in ways that were met are flagged.
#include "rules/claims.hpp"

namespace redline::step {
namespace {

Choice children(const char* name, const char* count) { return {name, {{"children", count}}}; }

void check_bias(const char* rule, const Choice& liar, double tv,
                const std::vector<Choice>& links = {}) {
  INFO(rule << " of " << liar.name);
  const Finding f = enumerate({.tables = VB, .rule = {rule}, .drafter = liar, .links = links});
  CHECK(f.joint_tv > 1e-4);
  CHECK(std::abs(f.first_tv - tv) < 1e-6);
}

TEST_CASE("Lies about siblings bias the tree rules by what was derived") {
  for (const char* rule : {"accept_multiround", "accept_traversal"}) {
    check_bias(rule, children("n6", "2"), .043367);
    check_bias(rule, children("n7", "2"), .0375);
    check_bias(rule, children("n10", "2"), .5);
  }
}

TEST_CASE("Lies about a single token bias every rule that reads rows alike") {
  for (const char* rule : {"accept_ratio", "accept_multiround", "accept_block", "accept_traversal",
                           "accept_kseq", "accept_optimal", "accept_ordered"}) {
    check_bias(rule, {"n3"}, .3125);
    check_bias(rule, {"n4"}, .041667);
    check_bias(rule, {"n11"}, .11);
    check_bias(rule, {"n15"}, .0975);
    check_bias(rule, {"n12"}, .110594, {{"test_ban", {{"token", "3"}}}});
  }
}

TEST_CASE("Wrong rules are flagged: twins skipped, siblings re-ordered") {
  check_bias("n5", tree("2", "iid"), .026786);
  check_bias("n8", tree("2", "iid"), .06);
}

TEST_CASE(
    "Block verification by contiguous passes, or with the token rule's residual, is flagged") {
  const auto found = [](const char* rule) {
    return enumerate({.tables = VB, .rule = {rule}, .drafter = tree("1;1", "iid")});
  };
  CHECK(std::abs(found("n13").joint_tv - .2) < 1e-6);
  const Finding n14 = found("n14");
  CHECK(n14.first_tv < 1e-9);  // the first token hides it
  Law two;
  for (const auto& [text, weight] : n14.joint) two[{text[0], text[1]}] += weight;
  double tv = 0;
  for (const auto& [text, weight] : two)
    tv += std::abs(weight - VB.p.at({})[text[0]] * VB.p.at({})[text[1]]) / 2;
  CHECK(std::abs(tv - .0125) < 1e-6);
}

TEST_CASE("A port's weight, a wrong residual, a selection unaccounted for are flagged") {
  for (const char* mode : {"new", "iid"}) {
    const Case port{.tables = VB, .rule = {"wrong_traversal"}, .drafter = tree("2", mode)};
    CHECK(enumerate(port).joint_tv > 1e-3);
  }
  for (const char* rule : {"wrong_kseq", "wrong_selection"}) {
    INFO(rule);
    const Case c{.tables = VB, .rule = {rule}, .drafter = tree("2", "iid")};
    CHECK(enumerate(c).joint_tv > 1e-3);
  }
}

TEST_CASE("Optimal transport refuses siblings that their own law cannot draw") {
  CHECK_THROWS_WITH(
      enumerate({.tables = VB, .rule = {"accept_optimal"}, .drafter = children("n7", "2")}),
      Catch::Matchers::Contains("cannot draw"));
}

}  // namespace
}  // namespace redline::step
