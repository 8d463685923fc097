// SPDX-License-Identifier: Apache-2.0
// Length policies as built: where they stop, and that no stop of theirs biases a rule that reads
// the drafter's rows.
#include "rules/claims.hpp"

namespace redline::step {
namespace {

const std::vector<Choice> kPolicies{
    {"length_confidence", {{"max_depth", "2"}, {"max_nodes", "6"}, {"p_min", "0.45"}}},
    {"length_entropy",
     {{"max_depth", "2"}, {"max_nodes", "6"}, {"g", "0.2"}, {"threshold", "0.55"}}},
    {"length_heuristic", {{"start", "1"}, {"max_depth", "3"}, {"nodes_per_depth", "2"}}},
    {"length_threshold", {{"max_depth", "2"}, {"max_nodes", "6"}, {"start", "0.45"}}},
    {"length_goodput", {{"max_depth", "2"}}},
    {"length_auto", {{"max_depth", "2"}, {"loss_budget", "0"}, {"backoff", "1"}}},
    {"length_ranges", {{"ranges", "1:2, 2:0"}, {"nodes_per_depth", "2"}}}};

TEST_CASE("No length policy biases a rule that reads rows") {
  for (const Choice& length : kPolicies) {
    for (const char* rule :
         {"accept_ratio", "accept_block", "accept_multiround", "accept_traversal", "accept_kseq"})
      check_exact(length.name.c_str(), {.tables = C1,
                                        .rule = {rule},
                                        .drafter = tree("1;1", "iid"),
                                        .length = length,
                                        .steps = 2});
    for (const char* rule : {"accept_multiround", "accept_traversal"})
      for (const char* mode : {"new", "greedy"})
        check_exact(
            length.name.c_str(),
            {.tables = C1, .rule = {rule}, .drafter = tree("2;1,1", mode), .length = length});
  }
}

TEST_CASE("Stops leave the law alone in random contexts with exact zeros") {
  for (const Choice& length : kPolicies)
    for (const char* rule : {"accept_block", "accept_traversal"}) {
      std::mt19937 g(19);
      for (int k = 0; k < 30; ++k) {
        const Pair tables = random_pair(g);
        check_exact(
            length.name.c_str(),
            {.tables = tables, .rule = {rule}, .drafter = tree("1;1", "iid"), .length = length});
      }
    }
}

struct Asked {
  std::unique_ptr<DraftLength> policy;
  std::unique_ptr<State> state;
  redline::Sequence sequence{.id = 1, .tokens = kText, .tokens_left = 100, .vocab = 4};
  inline static const std::vector<Token> kText{0};

  explicit Asked(const Choice& c) {
    struct NoHost final : Host {
    } host;
    policy = registry().make<DraftLength>(c.name, c.arguments(), host);
    state = policy->begin(sequence);
  }
  Turn turn() const { return {sequence, state.get()}; }
  Budget budget(int batch = 1) const {
    const std::vector<Turn> turns(batch, turn());
    return policy->choose(turns).back();
  }
  bool proceeds(std::vector<float> q) const { return policy->proceed(turn(), 1, Row::dense(q)); }
  void observe(int drafted, int kept) {
    Draft d(4);
    for (int k = 0; k < drafted; ++k) d.append({k, 1});
    const Outcome o{turn(), d, {kept, 0}, {}, {}};
    policy->observe({&o, 1});
  }
};

TEST_CASE("length_confidence goes on while the best token is likely enough") {
  const Asked a({"length_confidence", {{"p_min", "0.5"}, {"max_depth", "3"}}});
  CHECK(a.budget().max_depth == 3);
  CHECK(a.budget().max_nodes == 3);
  CHECK(a.proceeds({.5, .25, .25, 0}));
  CHECK_FALSE(a.proceeds({.49F, .26F, .25, 0}));
}

TEST_CASE("length_entropy goes on while 1 - sqrt(g H) is at least the threshold") {
  // H of two equal tokens is .693147: 1 - sqrt(.5 H) = .411297.
  const std::vector<float> even{.5, .5, 0, 0};
  CHECK(Asked({"length_entropy", {{"g", "0.5"}, {"threshold", "0.4112"}}}).proceeds(even));
  CHECK_FALSE(Asked({"length_entropy", {{"g", "0.5"}, {"threshold", "0.4114"}}}).proceeds(even));
  CHECK(Asked({"length_entropy", {{"threshold", "1"}}}).proceeds({0, 1, 0, 0}));
}

TEST_CASE("length_heuristic adds two after a full acceptance and takes one off after any other") {
  Asked a({"length_heuristic", {{"start", "2"}, {"max_depth", "5"}, {"nodes_per_depth", "3"}}});
  CHECK(a.budget().max_depth == 2);
  CHECK(a.budget().max_nodes == 6);
  a.observe(2, 2);
  CHECK(a.budget().max_depth == 4);
  a.observe(4, 4);
  CHECK(a.budget().max_depth == 5);  // not beyond max_depth
  a.observe(5, 4);
  CHECK(a.budget().max_depth == 4);
  a.observe(0, 0);
  CHECK(a.budget().max_depth == 4);  // a step without a draft teaches nothing
  for (int k = 0; k < 9; ++k) a.observe(1, 0);
  CHECK(a.budget().max_depth == 1);
}

TEST_CASE("length_threshold learns the confidence that tells kept from refused tokens") {
  Asked a({"length_threshold", {{"start", "0.4"}}});
  const std::vector<float> half{.5, .5, 0, 0}, below{.48F, .3F, .22F, 0};
  const auto learn = [&](std::vector<float> confidences, int kept) {
    Draft d(4);
    for (const float c : confidences) {
      const float rest = (1 - c) / 3;
      d.append(
          {d.size(), 0, redline::Law::DELTA, Row::dense(std::vector<float>{c, rest, rest, rest})});
    }
    const Outcome o{a.turn(), d, {kept, 0}, {}, {}};
    a.policy->observe({&o, 1});
  };
  learn({.95F, .9F, .8F, .99F}, 2);  // kept, kept, refused, unknown
  learn({.5F, .6F}, 1);
  CHECK(a.proceeds(below));  // five seen: the start still holds
  learn({.45F}, 0);
  // The costs at .95 .9 .8 .6 .5 .45 are 2, 1, 4/3, 5/3, 2/3, 1.
  CHECK(a.proceeds(half));
  CHECK_FALSE(a.proceeds(below));
}

TEST_CASE("length_ranges takes the depth of the batch's range") {
  const Asked a({"length_ranges", {{"ranges", "1:8, 5:3,17:0"}, {"nodes_per_depth", "2"}}});
  CHECK(a.policy->reads() == Reads::BATCH);
  CHECK(a.budget(1).max_depth == 8);
  CHECK(a.budget(4).max_nodes == 16);
  CHECK(a.budget(5).max_depth == 3);
  CHECK(a.budget(16).max_depth == 3);
  CHECK(a.budget(17).max_depth == 0);
  CHECK(a.budget(500).max_nodes == 0);
}

TEST_CASE("length_ranges refuses what it cannot read") {
  for (const char* bad :
       {"", "8", "1:", "1:8,", "2:8", "1:8, 1:3", "5:3, 1:8", "1:65", "1:8;5:3", "a:b"}) {
    INFO('\'' << bad << '\'');
    CHECK_THROWS_AS(Asked({"length_ranges", {{"ranges", bad}}}), InputError);
  }
}

}  // namespace
}  // namespace redline::step
