// SPDX-License-Identifier: Apache-2.0
// Wrong implementations that were met in the field, as plugins: the suite fails each by the name of
// what it violates.
#include "check/flagged.hpp"

namespace redline::check {
namespace {

struct Mutant {
  const char *id, *plugin, *violated;  // the failed check and how its word begins
  Values values = {};
};

const Values kTwo{{"children", "2"}};
const char* const kFirst = ": first-token law: off by TV";
const char* const kLie =
    "sampled law: sampled law: tokens are not drawn from the declared row, off by TV";
const char* const kLooks =
    "sampled law: anticipation: whether a sampled token is submitted depends on the token";

const Mutant kMutants[] = {
    {"N1, recovery from p", "n1", kFirst},
    {"N2, recovery from p without the refused token", "n2", kFirst},
    {"N3, argmax declared as sampled", "n3", kLie},
    {"N4, another temperature than declared", "n4", kLie},
    {"N5, a twin's round skipped", "n5", kFirst},
    {"N6, without replacement declared as i.i.d.", "n6", kLie, kTwo},
    {"N7, i.i.d. declared as without replacement", "n7", kLie, kTwo},
    {"N8, siblings re-ordered by p", "n8", kFirst},
    {"N9, draft and recovery of one noise, the drafter", "n9",
     "the shared noise of a position drew a node declared ROW"},
    {"N9, the rule", "n9_rule",
     "a rule put the noise that decides a token to a row that is not p there"},
    {"N10, the best declared as sampled", "n10", kLie, kTwo},
    {"N11, dropped if unlikely", "n11", kLooks},
    {"N12, dropped if illegal", "n12", kLooks},
    {"N13, contiguous passes", "n13", kFirst},
    {"N14, block criterion, token residual", "n14",
     ": joint law: off by TV 0.0125, the first token hides it"},
    {"N15, the better of two", "n15", kLooks},
};

TEST_CASE("Every mutant fails by the name of what it violates") {
  for (const Mutant& m : kMutants) {
    INFO(m.id);
    CHECK_THAT(faults_of(m.plugin, {}, m.values), Catch::Matchers::Contains(m.violated));
  }
}

TEST_CASE("What a drafter's lie does to the text is told too") {
  for (const char* drafter : {"n3", "n4", "n11", "n15"})
    CHECK_THAT(faults_of(drafter, "law"), Catch::Matchers::Contains("law: first-token law"));
}

TEST_CASE("Wrong rules of other origin fail by the law they break") {
  for (const char* rule : {"wrong_traversal", "wrong_kseq", "wrong_selection", "n8_by_q"})
    CHECK_THAT(faults_of(rule), Catch::Matchers::Contains(kFirst));
}

TEST_CASE("A lossy rule that declares itself lossless fails") {
  CHECK_THAT(faults_of("keeps_all", "law of chains"),
             Catch::Matchers::Contains("first-token law: off by TV 0.3"));
}

TEST_CASE("Noise put to a wrong use is named") {
  CHECK_THAT(faults_of("sample_residual"), Catch::Matchers::Contains("a row that is not p there"));
  CHECK_THAT(faults_of("draw_twice"), Catch::Matchers::Contains("draw keys: draw_twice"));
  CHECK_THAT(faults_of("target_noise"),
             Catch::Matchers::Contains("the noise that decides the target's token"));
}

}  // namespace
}  // namespace redline::check
