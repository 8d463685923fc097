// SPDX-License-Identifier: Apache-2.0
// Speculation changes how a text is made, never the text: over rules, shapes, limits, stops, page
// boundaries and batches, held against plain decoding of the same seed.
#include <catch2/catch.hpp>

#include "step/text.hpp"

namespace redline::step {
namespace {

TEST_CASE("At temperature 0 every rule writes plain decoding's text") {
  for (const char* rule : {"accept_match", "accept_gumbel", "accept_delta"})
    for (const char* shape : {"1", "1;1;1;1", "2;2,1", "3;1,0,2;1,1,1", "8;3"})
      for (const char* mode : {"iid", "top", "new"}) {
        INFO(rule << ' ' << shape << ' ' << mode);
        const CellSpec spec = greedy(like_target(2), table(shape, mode), {rule});
        CHECK(write(spec, prompt(5), 60) == write(plain(spec), prompt(5), 60));
      }
  const CellSpec ratio = greedy(like_target(3), table("1;1;1", "iid"), {"accept_ratio"});
  CHECK(write(ratio, prompt(5), 60) == write(plain(ratio), prompt(5), 60));
}

TEST_CASE("Sampled text under match and shared noise is plain decoding's, whatever is drafted") {
  for (const char* rule : {"accept_match", "accept_gumbel"})
    for (const char* shape : {"1;1;1", "2;2,1", "3;1,0,2"})
      for (const char* mode : {"iid", "top", "new", "greedy", "coupled"})
        for (std::uint64_t key = 1; key <= 5; ++key) {
          INFO(rule << ' ' << shape << ' ' << mode << ' ' << key);
          CellSpec spec = sampled(like_target(2), table(shape, mode), {rule});
          CHECK(write(spec, prompt(3), 40, key) == write(plain(spec), prompt(3), 40, key));
        }
}

TEST_CASE("Shared noise makes a drafter agree more often than its own noise does") {
  const auto accepted = [](const char* mode) {
    return read(sampled(like_target(2), table("1;1;1", mode), {"accept_gumbel"}), prompt(3), 400)
        .accepted;
  };
  CHECK(accepted("coupled") > accepted("iid") + 10);
}

TEST_CASE("Another seed or another request key gives another text") {
  const CellSpec spec = sampled(like_target(2), table("1;1", "iid"), {"accept_match"});
  CHECK(write(spec, prompt(3), 40, 1) != write(spec, prompt(3), 40, 2));
}

TEST_CASE("max_tokens is met exactly, in as few steps as the draft allows") {
  for (int max_tokens = 1; max_tokens <= 9; ++max_tokens)
    for (int k = 1; k <= 8; ++k) {
      INFO(max_tokens << " tokens, K = " << k);
      const CellSpec spec = greedy(target_law(), chain(k), {"accept_match"});
      const Reading r = read(spec, prompt(4), max_tokens);
      CHECK(r.text.size() == static_cast<std::size_t>(max_tokens));
      CHECK(r.steps == 1 + (max_tokens - 1 + k) / (k + 1));  // the prefill token's comes first
    }
}

TEST_CASE("Prompts at page boundaries and of any size against the width of a forward") {
  for (const int size : {1, 2, 14, 15, 16, 17, 31, 32, 33, 63, 64, 65})
    for (const int width : {8, 16, 64}) {
      INFO(size << " prompt tokens, forwards of " << width << " rows");
      CellSpec spec = greedy(like_target(2), table("2;2,1", "top"), {"accept_match"});
      spec.max_rows = width;
      CHECK(write(spec, prompt(size), 30) == write(plain(spec), prompt(size), 30));
    }
}

TEST_CASE("The last chunk of a prompt and its first token share a forward") {
  CellSpec spec = greedy(target_law(), chain(3), {"accept_match"});
  spec.max_rows = 16;
  Cell cell(spec);
  Philox noise;
  Sequence s = cell.open(prompt(40), 40, 10);
  cell.prefill(s, noise);
  CHECK(cell.target.forwards == 2);
  const Progress first = cell.run(s, noise);
  CHECK(cell.target.forwards == 3);
  CHECK(first.record.kind == trace::StepKind::PREFILL);
  CHECK(first.committed.size() == 1);
  CHECK(cell.run(s, noise).record.kind == trace::StepKind::SPECULATIVE);
  CHECK(cell.timings.rows == 40 + 4);
}

TEST_CASE("A tree of 64 nodes is verified by one forward of 65 rows") {
  const auto times = [](int count, const std::string& children) {
    std::string level = children;
    for (int k = 1; k < count; ++k) level += ',' + children;
    return level;
  };
  const std::string shape = "4;" + times(4, "3") + ';' + times(12, "2") + ';' + times(24, "1");
  for (const char* rule : {"accept_traversal", "accept_multiround", "accept_match"}) {
    INFO(rule);
    Cell cell(sampled(like_target(2), table(shape.c_str(), "new"), {rule}));
    Philox noise;
    Sequence s = cell.open(prompt(4), 4, 100);
    cell.run(s, noise);  // the prompt and its first token
    const std::int64_t forwards = cell.target.forwards, rows = cell.target.rows;
    const Progress made = cell.run(s, noise);
    CHECK(made.record.n_nodes == 64);
    CHECK(made.record.max_depth == 4);
    CHECK(cell.target.forwards == forwards + 1);
    CHECK(cell.target.rows == rows + 65);
  }
}

TEST_CASE("Nothing is drafted below a stop token, and the first stop is reached") {
  for (const char* rule : {"accept_match", "accept_delta", "accept_ratio"}) {
    const CellSpec spec = greedy(target_law(), chain(6), {rule});
    const auto plain_text = write(plain(spec), prompt(4), 40);
    const Token stop = plain_text[9];
    Cell cell(spec);
    Philox noise;
    Sequence s = cell.open(prompt(4), 4, 40);
    s.stop_tokens = {stop};
    std::vector<Token> text;
    while (std::find(text.begin(), text.end(), stop) == text.end()) {
      const Progress made = cell.run(s, noise);
      text.insert(text.end(), made.committed.begin(), made.committed.end());
      if (std::find(text.begin(), text.end(), stop) != text.end())
        CHECK(text.size() <= static_cast<std::size_t>(made.drafted) + 10);
    }
    const auto first = std::find(text.begin(), text.end(), stop) - text.begin();
    CHECK(text.size() - first <= 2);  // the stop, and at most the token a full draft is paid with
    CHECK(std::equal(text.begin(), text.begin() + first + 1, plain_text.begin()));
  }
}

TEST_CASE("A thousand rejected drafts leave no page and no count behind") {
  CellSpec spec = sampled(like_target(2), chain(4), {"test_keep_none"});
  Cell cell(spec);
  Philox noise;
  Sequence s = cell.open(prompt(4), 4, 2000);
  for (int k = 0; k < 1000; ++k) {
    const Progress made = cell.run(s, noise);
    REQUIRE(made.accepted_by_rule == 0);
    REQUIRE(made.committed.size() == 1);
  }
  CHECK(ScriptedModel::text_of(*s.target_kv) ==
        std::vector<Token>(s.tokens.begin(), s.tokens.end() - 1));
  cell.step.forget(s);
  s.target_kv->clear();
  CHECK(cell.target_pages.available() == cell.target_pages.total());
  CHECK(cell.draft_pages.available() == cell.draft_pages.total());
  CHECK(cell.target_pages.guards_intact());
  CHECK(cell.draft_pages.guards_intact());
}

TEST_CASE("Log-probabilities and margins are plain decoding's") {
  const CellSpec spec = sampled(like_target(2), table("2;2,1", "new"), {"accept_match"});
  const Reading a = read(spec, prompt(3), 50), b = read(plain(spec), prompt(3), 50);
  CHECK(a.accepted > 0);
  CHECK(a.logprobs == b.logprobs);
  CHECK(a.margins == b.margins);
}

TEST_CASE("A draft goes no further than the draft model's context, and then is none") {
  CellSpec spec = greedy(target_law(), chain(4), {"accept_match"});
  spec.draft_context = 20;
  const Reading r = read(spec, prompt(10), 30);
  CHECK(r.text == write(plain(spec), prompt(10), 30));
  CHECK(r.bad_drafts == 0);
  CHECK(r.accepted > 0);
  CHECK(r.drafted_when_long == 0);
}

TEST_CASE("A prompt beyond the draft model's context is decoded plainly") {
  CellSpec spec = greedy(target_law(), chain(4), {"accept_match"});
  spec.draft_context = 8;
  const Reading r = read(spec, prompt(30), 10);
  CHECK(r.text == write(plain(spec), prompt(30), 10));
  CHECK(r.accepted == 0);
}

TEST_CASE("A draft goes no further than the target's context") {
  CellSpec spec = greedy(target_law(), chain(4), {"accept_match"});
  spec.target_context = 24;
  Cell cell(spec);
  Philox noise;
  Sequence s = cell.open(prompt(10), 10, 100);
  while (s.tokens.size() <= 24) cell.run(s, noise);  // the model would refuse position 24
  CHECK(s.tokens.size() == 25);
}

TEST_CASE("A pair that cannot work is refused, one that needs deltas is downgraded") {
  const auto made = [](const char* drafter, const char* shape, const char* rule) {
    return [=] {
      Choice d{drafter};
      if (*shape) d.values["shape"] = shape;
      Cell cell(sampled(target_law(), d, {rule}));
    };
  };
  CHECK_THROWS_AS(made("test_table", "2", "accept_ratio")(), PluginError);
  CHECK_THROWS_WITH(made("test_table", "2", "accept_ratio")(),
                    "test_table drafts trees, accept_ratio takes chains; choose another rule or a "
                    "chain drafter");
  CHECK_NOTHROW(made("test_table", "1;1", "accept_ratio")());
  CHECK_NOTHROW(made("n11_honest", "", "accept_ratio")());
}

TEST_CASE("A rule that throws is named, and leaks nothing") {
  Cell cell(sampled(target_law(), chain(3), {"test_rule_throws"}));
  Philox noise;
  {
    Sequence s = cell.open(prompt(4), 4, 10);
    CHECK_THROWS_AS(cell.run(s, noise), PluginError);
    cell.step.forget(s);
  }
  CHECK(cell.target_pages.available() == cell.target_pages.total());
  CHECK(cell.draft_pages.available() == cell.draft_pages.total());
}

}  // namespace
}  // namespace redline::step
