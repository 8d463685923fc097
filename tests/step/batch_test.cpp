// SPDX-License-Identifier: Apache-2.0
// Who else is in a batch, and what goes wrong with them, changes nothing for a sequence.
#include <catch2/catch.hpp>
#include <limits>

#include "step/text.hpp"

namespace redline::step {
namespace {

constexpr int kSequences = 5;
constexpr int kTokens = 30;

struct Group {
  std::vector<Reading> readings{kSequences};
  explicit Group(const CellSpec& spec) {
    Cell cell(spec);
    Philox noise;
    std::vector<Sequence> all;
    all.reserve(kSequences);
    for (int k = 0; k < kSequences; ++k)
      all.push_back(cell.open(prompt(3 + 7 * k), 3 + 7 * k, kTokens, key(k)));
    for (;;) {
      std::vector<Part> running;
      std::vector<int> who;
      for (int k = 0; k < kSequences; ++k)
        if (all[k].tokens_left > 0 && readings[k].error.empty())
          running.emplace_back(&all[k], chunk_of(all[k], spec.max_rows)), who.push_back(k);
      if (running.empty()) return;
      const auto made = cell.step.run(running, noise, cell.timings).value();
      for (std::size_t k = 0; k < made.size(); ++k) take(readings[who[k]], made[k]);
    }
  }
  static std::int32_t chunk_of(const Sequence& s, std::int32_t max_rows) {
    return s.missing() >= max_rows ? max_rows : 0;
  }
  static std::uint64_t key(int k) { return 100 + static_cast<std::uint64_t>(k); }
  static void take(Reading& r, const Progress& made) {
    r.text.insert(r.text.end(), made.committed.begin(), made.committed.end());
    r.steps += !made.is_chunk;
    r.accepted += made.accepted_by_rule;
    r.bad_drafts += !made.bad_draft.empty();
    r.error = made.error;
  }
};

void check_like_alone(const CellSpec& spec) {
  const Group together(spec);
  for (int k = 0; k < kSequences; ++k) {
    INFO("sequence " << k);
    const Reading alone = read(spec, prompt(3 + 7 * k), kTokens, Group::key(k));
    CHECK(together.readings[k].text == alone.text);
    CHECK(together.readings[k].steps == alone.steps);
    CHECK(together.readings[k].accepted == alone.accepted);
    CHECK(together.readings[k].bad_drafts == alone.bad_drafts);
    CHECK(together.readings[k].error == alone.error);
  }
}

// The law, but NaN after a text of `size` tokens that begins like `begin`.
ScriptedModel::Law broken_at(ScriptedModel::Law law, std::vector<Token> begin, std::size_t size) {
  return [=](std::span<const Token> text) {
    auto logits = law(text);
    if (text.size() == size && std::equal(begin.begin(), begin.end(), text.begin()))
      logits[3] = std::numeric_limits<float>::quiet_NaN();
    return logits;
  };
}

TEST_CASE("A sequence in a batch is decoded as it is alone, in as many steps") {
  for (const char* rule : {"accept_match", "accept_delta", "accept_gumbel"})
    for (const char* shape : {"1;1;1", "2;2,1"})
      check_like_alone(sampled(like_target(2), table(shape, "iid"), {rule}));
  check_like_alone(sampled(like_target(2), chain(4), {"accept_ratio"}));
  for (const char* mode : {"iid", "new", "top"})
    check_like_alone(sampled(like_target(2), table("2;2,1", mode), {"accept_optimal"}));
}

TEST_CASE("A batch wider than a forward runs in several, each sequence whole") {
  CellSpec spec = sampled(like_target(2), table("2;2,1", "iid"), {"accept_delta"});
  spec.max_rows = 12;
  check_like_alone(spec);
}

TEST_CASE("A target row with NaN ends its own request") {
  CellSpec spec = sampled(like_target(2), chain(3), {"accept_match"});
  spec.target = broken_at(target_law(), prompt(10), 15);
  const Group together(spec);
  CHECK_THAT(together.readings[1].error, Catch::Matchers::Contains("NaN"));
  CHECK(together.readings[1].text.size() < 6);
  for (const int k : {0, 2, 3, 4}) {
    CHECK(together.readings[k].error.empty());
    CHECK(together.readings[k].text.size() == kTokens);
  }
  check_like_alone(spec);
}

TEST_CASE("Infinity in a target row ends the request, at temperature 0 too") {
  CellSpec spec = greedy(like_target(2), chain(3), {"accept_match"});
  spec.target = [](std::span<const Token> text) {
    auto logits = target_law()(text);
    if (text.size() == 9) logits[5] = std::numeric_limits<float>::infinity();
    return logits;
  };
  const Reading r = read(spec, prompt(4), 20);
  CHECK_FALSE(r.error.empty());
  CHECK(r.text.size() <= 5);
}

TEST_CASE("A draft row with NaN makes a plain step of its own sequence") {
  CellSpec spec = sampled(like_target(2), chain(3), {"accept_match"});
  spec.draft = broken_at(like_target(2), prompt(10), 12);
  const Group together(spec);
  CHECK(together.readings[1].bad_drafts > 0);
  CHECK(together.readings[1].text == write(plain(spec), prompt(10), kTokens, Group::key(1)));
  for (const int k : {0, 2, 3, 4}) CHECK(together.readings[k].bad_drafts == 0);
  check_like_alone(spec);
}

TEST_CASE("A drafter that throws makes a plain step, in a batch of that sequence alone") {
  const CellSpec all = sampled(like_target(2), {"test_throws"}, {"accept_match"});
  const Reading r = read(all, prompt(4), 20);
  CHECK(r.bad_drafts ==
        18);  // every step but the prefill token's and the last, which drafts nothing
  CHECK(r.text == write(plain(all), prompt(4), 20));

  CellSpec one = all;
  one.drafter.values["id"] = "102";
  check_like_alone(one);
  const Group together(one);
  CHECK(together.readings[2].bad_drafts > 0);
  CHECK(together.readings[1].bad_drafts == 0);
}

TEST_CASE("When pages run out nothing has happened; freed pages let the batch go on") {
  CellSpec spec = greedy(target_law(), chain(4), {"accept_match"});
  spec.pages = 4;
  Cell cell(spec);
  Philox noise;
  Sequence a = cell.open(prompt(30), 30, 40, 1), b = cell.open(prompt(28), 28, 40, 2);
  const Part both[] = {&a, &b};
  REQUIRE(cell.step.run(both, noise, cell.timings));
  const auto text = a.tokens;
  const auto free_target = cell.target_pages.available();
  const auto free_draft = cell.draft_pages.available();
  CHECK_FALSE(cell.step.run(both, noise, cell.timings));
  CHECK(a.tokens == text);
  CHECK(cell.target_pages.available() == free_target);
  CHECK(cell.draft_pages.available() == free_draft);
  cell.step.forget(b);
  b.target_kv->clear();
  const Part one[] = {&a};
  REQUIRE(cell.step.run(one, noise, cell.timings));
  CHECK(a.tokens.size() > text.size() + 1);
  CHECK(cell.target_pages.guards_intact());
}

}  // namespace
}  // namespace redline::step
