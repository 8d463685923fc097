// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "stage.hpp"

using namespace redline;
using stage::registry, stage::tokens;
using Ids = std::vector<Token>;

namespace {

const Ids kStops{9};

Ids looked_up(const plugin::Arguments& arguments, const Ids& text, int depth = 100) {
  stage::Host host;
  const auto drafter = registry().make<Drafter>("draft_ngram", arguments, host);
  stage::Draws none;
  const Sequence s{1, text, static_cast<int>(text.size()), 100, 20, kStops};
  return tokens(stage::propose(*drafter, {&s, 1}, depth, none).front());
}

// q after a path is a function of its last token alone.
Row follows(const Sequence& s, const Ids& path) {
  const Token last = path.empty() ? s.tokens.back() : path.back();
  std::vector<float> q(10, 0.0F);
  q[(last + 1) % 10] = .75F, q[(last + 2) % 10] = .25F;
  return Row::dense(q);
}

struct Chain {
  stage::Model model{follows};
  stage::Host host{&model};
  std::unique_ptr<Drafter> drafter;
  explicit Chain(const std::string& method)
      : drafter(registry().make<Drafter>(
            "draft_model", {{"model", "draft", "test"}, {"method", method, "test"}}, host)) {}
};

}  // namespace

TEST_CASE("draft_none proposes nothing") {
  stage::Host host;
  const auto drafter = registry().make<Drafter>("draft_none", {}, host);
  const Ids text{1};
  const Sequence s{1, text, 1, 9, 4};
  stage::Draws none;
  CHECK(stage::propose(*drafter, {&s, 1}, 5, none).front().size() == 0);
}

TEST_CASE("draft_ngram proposes what followed the longest ending") {
  CHECK(looked_up({{"n_min", "2", ""}, {"n_max", "3", ""}, {"k", "4", ""}}, {1, 2, 3, 4, 2, 3}) ==
        Ids{4, 2, 3});
  CHECK(looked_up({}, {1, 2, 3}).empty());
  CHECK(looked_up({}, {5}).empty());
  CHECK(looked_up({}, {5, 5}) == Ids{5});
  // The three-token ending wins over later matches of a shorter one.
  CHECK(looked_up({{"k", "1", ""}}, {1, 2, 3, 7, 2, 3, 8, 1, 2, 3}) == Ids{7});
}

TEST_CASE("draft_ngram picks the occurrence it is told to") {
  const Ids text{1, 5, 1, 6, 1, 5, 1, 7, 1};
  const auto next = [&](const char* pick) {
    return looked_up({{"n_max", "1", ""}, {"k", "1", ""}, {"pick", pick, ""}}, text);
  };
  CHECK(next("first") == Ids{5});
  CHECK(next("last") == Ids{7});
  CHECK(next("most_frequent") == Ids{5});
  CHECK(looked_up({{"n_max", "1", ""}, {"k", "4", ""}, {"pick", "most_frequent", ""}}, text) ==
        Ids{5, 1, 7, 1});  // the latest of the commonest
}

TEST_CASE("draft_ngram stays within its k, the budget and the request's end") {
  const Ids text{1, 2, 3, 4, 5, 6, 1, 2};
  CHECK(looked_up({}, text) == Ids{3, 4, 5, 6, 1, 2});
  CHECK(looked_up({{"k", "2", ""}}, text) == Ids{3, 4});
  CHECK(looked_up({}, text, 3) == Ids{3, 4, 5});
  CHECK(looked_up({}, {1, 2, 9, 4, 1, 2}) == Ids{9});  // nothing below a stop token
  CHECK_THROWS_WITH(looked_up({{"n_min", "4", ""}, {"n_max", "3", ""}}, text),
                    "draft_ngram: n_min = 4 is above n_max = 3; lower it or raise n_max");
}

TEST_CASE("draft_model draws a chain and keeps the rows it drew from") {
  Chain c("sample");
  const Ids text{3};
  const Sequence s{1, text, 1, 100, 10, kStops};
  stage::Draws draws({4, 6, 7});
  const Draft d = stage::propose(*c.drafter, {&s, 1}, 3, draws).front();
  CHECK(tokens(d) == Ids{4, 6, 7});
  CHECK(draws.calls == "ccc");
  CHECK(d.item(2).law == Law::ROW);
  CHECK(d.q(2).at(6) == Approx(.25));
  CHECK(c.drafter->contract().emits.row);
  CHECK(c.model.asked == std::vector<std::size_t>{1, 1, 1});
}

TEST_CASE("draft_model drafts its best token as a delta, or couples to the target's noise") {
  const Ids text{3};
  const Sequence s{1, text, 1, 100, 10, kStops};
  Chain greedy("greedy");
  stage::Draws none;
  const Draft d = stage::propose(*greedy.drafter, {&s, 1}, 3, none).front();
  CHECK(tokens(d) == Ids{4, 5, 6});
  CHECK(d.item(1).law == Law::DELTA);
  CHECK_FALSE(greedy.drafter->contract().emits.row);
  Chain coupled("coupled");
  stage::Draws noise({5, 6});
  CHECK(stage::propose(*coupled.drafter, {&s, 1}, 2, noise).front().item(2).law == Law::COUPLED);
  CHECK(noise.calls == "gg");
}

TEST_CASE("draft_model asks once a depth for all sequences, and nothing for a chain that ended") {
  Chain c("greedy");
  const Ids a{3}, b{8};  // b's chain is the stop token 9 at once
  const Sequence s[] = {{1, a, 1, 100, 10, kStops}, {2, b, 1, 100, 10, kStops}};
  stage::Draws none;
  const auto drafts = stage::propose(*c.drafter, s, 3, none);
  CHECK(tokens(drafts[0]) == Ids{4, 5, 6});
  CHECK(tokens(drafts[1]) == Ids{9});
  CHECK(c.model.asked == std::vector<std::size_t>{2, 1, 1});
}

TEST_CASE("draft_model needs a model, and an unknown one is the user's error") {
  stage::Host host;
  CHECK_THROWS_WITH(registry().make<Drafter>("draft_model", {}, host),
                    Catch::StartsWith("draft_model: model is empty; name the draft model"));
  CHECK_THROWS_AS(registry().make<Drafter>("draft_model", {{"model", "none", "x"}}, host),
                  InputError);
}

TEST_CASE("draft_scripted is right as often as it is told, by depth") {
  stage::Host host;
  const auto drafter = registry().make<Drafter>(
      "draft_scripted", {{"ids", "4, 5,6,7", "x"}, {"right", "1, 0.5", "x"}}, host);
  const Ids text{1, 2, 4};  // prompt of two, one token out
  const Sequence s{1, text, 2, 100, 10, kStops};
  stage::Draws draws({1, 0, 1});
  CHECK(tokens(stage::propose(*drafter, {&s, 1}, 9, draws).front()) == Ids{5, 7, 7});
  CHECK(draws.probs == std::vector<double>{1, .5, .5});
  CHECK_THROWS_AS(registry().make<Drafter>("draft_scripted", {{"ids", "4,x", "x"}}, host),
                  InputError);
  CHECK_THROWS_AS(registry().make<Drafter>("draft_scripted", {{"right", "1.5", "x"}}, host),
                  InputError);
}
