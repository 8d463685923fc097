// SPDX-License-Identifier: Apache-2.0
// Every check of the contract fails for a plugin that breaks it, and says what was broken.
#include "check/flagged.hpp"

namespace redline::check {
namespace {

struct Broken {
  const char *check, *plugin, *says;
};

void hold(std::initializer_list<Broken> all) {
  for (const Broken& b : all) {
    INFO(b.plugin << " in " << b.check);
    CHECK_THAT(faults_of(b.plugin, b.check), Catch::Matchers::StartsWith(std::string(b.check)) &&
                                                 Catch::Matchers::Contains(b.says));
  }
}

TEST_CASE("Rules that forget an edge fail by it") {
  hold({{"listing", "bad_default", "the default of k may not be given"},
        {"parameters", "edgy", "with every = 0"},
        {"nothing drafted", "wants_drafts", "no token to judge"},
        {"one token left", "wants_drafts", "no token to judge"},
        {"stop in the draft", "crashes", "crashed"},
        {"NaN rows", "wants_drafts", "no token to judge"},
        {"random trees", "narrow", "array::at"},
        {"random chains", "overconfident", "must be from 0 to 1"},
        {"isolation", "remembers", "depends on the request before it"},
        {"cold and warm", "tires", "depends on how long the plugin has run"},
        {"draw keys", "draw_twice", "draw_twice"},
        {"cost", "small_vocab", "a thousand tokens at most"}});
}

TEST_CASE("Drafters that forget an edge or mix up their sequences fail by it") {
  hold({{"empty batch", "front", "a batch has no first"},
        {"stop in the draft", "no_room", "no room for four"},
        {"random budgets", "no_room", "no room for four"},
        {"NaN rows", "nan_row", "crashed"},
        {"isolation", "by_request", "depends on the request before it"},
        {"batch and order", "by_place", "depends on the order of a batch"},
        {"full batch", "sixteen", "depends on how many are beside it"}});
}

TEST_CASE("Drafters that draft what they did not declare fail by that") {
  hold({{"drafting contract", "undeclared_row", "sampled nodes, none were declared"},
        {"drafting contract", "undeclared_coupled", "coupled nodes, none were declared"},
        {"drafting contract", "undeclared_tree", "a tree, declared were chains"},
        {"drafting contract", "undeclared_auxiliary", "more auxiliary rows than were declared"},
        {"drafting contract", "undeclared_rows", "no rows of the target"},
        {"made", "wants_auxiliary", "needs 2 auxiliary rows; this engine has none"}});
}

TEST_CASE("Policies and links that forget an edge or mix up their sequences fail by it") {
  hold({{"empty batch", "first_of", "a batch has no first"},
        {"nothing drafted", "never_empty", "nothing to learn from"},
        {"one token left", "never_empty", "nothing to learn from"},
        {"isolation", "depth_by_request", "depends on the request before it"},
        {"isolation", "counts_anywhere", "depends on the request before it"}});
}

TEST_CASE("A learned head is read from its graph, and its drafter checked over made-up rows") {
  for (const char* drafter : {"headed", "toy_medusa", "toy_eagle", "toy_flash", "toy_nested"}) {
    INFO(drafter);
    CHECK(faults_of(drafter).empty());
  }
  hold({{"module", "headed_untapped", "hidden(0) is asked for, the contract declares 0 taps"},
        {"made", "headless", "the graph has no head()"},
        {"drafting contract", "headed_below", "known at the root only"}});
}

}  // namespace
}  // namespace redline::check
