// SPDX-License-Identifier: Apache-2.0
// The proofs can fail: plugins wrong on purpose are flagged, each by the bias derived for it, and
// noise put to a wrong use is refused at run time.
#include <catch2/catch.hpp>

#include "step/enumeration.hpp"

namespace redline::step {
namespace {

using Catch::Matchers::Contains;

void check_bias(const char* id, const Case& c, double tv) {
  INFO(id);
  const Finding f = enumerate(c);
  CHECK(f.joint_tv > 1e-4);
  CHECK(std::abs(f.first_tv - tv) < 1e-6);
}
Choice children(const char* name, const char* count) { return {name, {{"children", count}}}; }
const Choice kTwo = {"test_table", {{"shape", "2"}}};

TEST_CASE("The multi-round rule the mutants are edits of is exact") {
  CHECK(enumerate({.tables = VB, .rule = {"right_multiround"}, .drafter = kTwo}).joint_tv < 1e-9);
}

TEST_CASE("Wrong rules are flagged by their bias") {
  check_bias("N1", {.tables = VB, .rule = {"n1"}}, .14);
  check_bias("N2", {.tables = VB, .rule = {"n2"}}, .116667);
  check_bias("N5", {.tables = VB, .rule = {"n5"}, .drafter = kTwo}, .026786);
  check_bias("N8", {.tables = VB, .rule = {"n8"}, .drafter = kTwo}, .06);
}

TEST_CASE("Drafters that lie about a law are flagged by their bias") {
  check_bias("N3", {.tables = VB, .rule = {"accept_ratio"}, .drafter = {"n3"}}, .3125);
  check_bias("N4", {.tables = VB, .rule = {"accept_ratio"}, .drafter = {"n4"}}, .041667);
  check_bias("N6", {.tables = VB, .rule = {"right_multiround"}, .drafter = children("n6", "2")},
             .043367);
  check_bias("N7", {.tables = VB, .rule = {"right_multiround"}, .drafter = children("n7", "2")},
             .0375);
  check_bias("N10", {.tables = VB, .rule = {"right_multiround"}, .drafter = children("n10", "2")},
             .5);
  check_bias("N11", {.tables = VB, .rule = {"accept_ratio"}, .drafter = {"n11"}}, .11);
  check_bias("N15", {.tables = VB, .rule = {"accept_ratio"}, .drafter = {"n15"}}, .0975);
  check_bias("N12",
             {.tables = VB,
              .rule = {"accept_ratio"},
              .drafter = {"n12"},
              .links = {{"test_ban", {{"token", "3"}}}}},
             .110594);
}

TEST_CASE("A bias that hides from the first token shows in the joint law") {
  const Choice two = {"test_table", {{"shape", "1;1"}}};
  const Finding n13 = enumerate({.tables = VB, .rule = {"n13"}, .drafter = two});
  CHECK(std::abs(n13.joint_tv - .2) < 1e-6);
  const Finding n14 = enumerate({.tables = VB, .rule = {"n14"}, .drafter = two});
  CHECK(n14.first_tv < 1e-9);
  CHECK(n14.joint_tv > 1e-3);
}

TEST_CASE("Lies about a law cannot bias a rule that reads none") {
  for (const char* liar : {"n3", "n4", "n6", "n11", "n12", "n15"}) {
    INFO(liar);
    CHECK(enumerate({.tables = VB, .rule = {"accept_delta"}, .drafter = {liar}}).joint_tv < 1e-9);
    CHECK(enumerate({.tables = VB, .rule = {"accept_match"}, .drafter = {liar}}).joint_tv < 1e-9);
  }
}

TEST_CASE("A drafter that says it anticipates is verified as deltas, exactly") {
  CHECK(enumerate({.tables = VB, .rule = {"accept_ratio"}, .drafter = {"n11_honest"}}).joint_tv <
        1e-9);
}

TEST_CASE("Noise put to a use that would bias the output ends the run") {
  const auto run = [](const Case& c) { return [&c] { enumerate(c); }; };
  const auto refused = [&](const Case& c, const char* why) {
    CHECK_THROWS_AS(run(c)(), PluginError);
    CHECK_THROWS_WITH(run(c)(), Contains(why));
  };
  refused({.tables = VB, .rule = {"n9_rule"}, .drafter = {"n9"}}, "declare it COUPLED");
  refused({.tables = VB, .rule = {"n9_rule"}}, "a row that is not p");
  refused({.tables = VB, .rule = {"sample_residual"}}, "a row that is not p");
  refused({.tables = VB, .rule = {"draw_twice"}}, "one key twice");
  refused({.tables = VB, .rule = {"accept_ratio"}, .drafter = {"target_noise"}},
          "the noise that decides the target's token");
}

}  // namespace
}  // namespace redline::step
