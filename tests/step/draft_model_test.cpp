// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <random>

#include "step/text.hpp"

namespace redline::step {
namespace {

class Bench {  // one draft model and the texts it drafts for
 public:
  explicit Bench(std::int32_t max_rows = 512, std::int32_t pages = 64)
      : forward(kVocab, target_law(), 200, max_rows),
        pool(forward.kv_shape(), pages, true),
        model(forward, pool, true) {}
  redline::Sequence view(std::uint64_t id, const std::vector<Token>& tokens) {
    const redline::Sequence seen{id, tokens, 0, 100, kVocab};
    if (!model.cache(id)) model.begin(seen, chain);
    return seen;
  }
  // What a fresh model holds of the first `count` tokens, byte by byte.
  void check_replay(std::uint64_t id, const std::vector<Token>& tokens) {
    const kv::Cache& cache = *model.cache(id);
    kv::PagePool fresh_pool(forward.kv_shape(), 64);
    DraftModel fresh(forward, fresh_pool, false);
    std::vector<Token> head(tokens.begin(), tokens.begin() + cache.tokens());
    head.push_back(0);
    const redline::Sequence seen{1, head, 0, 100, kVocab};
    fresh.begin(seen, chain);
    REQUIRE(fresh.reserve_fill(seen, 4096));
    const std::uint64_t one[] = {1};
    fresh.fill(one);
    const kv::Cache& again = *fresh.cache(1);
    REQUIRE(again.tokens() == cache.tokens());
    const auto page_bytes = static_cast<std::size_t>(pool.shape().page_bytes());
    for (std::int32_t slot = 0; slot < cache.tokens(); ++slot)
      for (std::size_t half = 0; half < page_bytes; half += page_bytes / 2) {
        const auto offset = half + 4 * static_cast<std::size_t>(slot % kv::kPageTokens);
        const auto page = static_cast<std::size_t>(slot / kv::kPageTokens);
        REQUIRE(std::memcmp(cache.pages()[page] + offset, again.pages()[page] + offset, 4) == 0);
      }
  }

  ScriptedModel forward;
  kv::PagePool pool;
  Chain chain;
  DraftModel model;
};

TEST_CASE("Rows are the model's, for any node of any draft, asked in any order and at once") {
  Bench b;
  const std::vector<Token> text = prompt(20), other = prompt(7);
  const auto s = b.view(1, text), t = b.view(2, other);
  Draft tree(kVocab), scratch(kVocab);
  for (const Node parent : {0, 0, 1, 2, 3}) tree.append({parent, static_cast<Token>(tree.size())});
  scratch.append({0, 4});
  const std::vector<Ask> asks{{s, tree, 5}, {t, scratch, 1}, {s, tree, 0},
                              {s, tree, 4}, {t, scratch, 0}, {s, scratch, 1}};
  const auto rows = b.model.forward(asks);
  for (std::size_t k = 0; k < asks.size(); ++k) {
    std::vector<Token> all(asks[k].sequence.tokens.begin(), asks[k].sequence.tokens.end());
    for (const Token x : asks[k].draft.path(asks[k].node)) all.push_back(x);
    CHECK(rows[k].to_dense() == b.chain.apply({}, target_law()(all)).to_dense());
    const auto raw = b.model.raw(asks[k].sequence.id, asks[k].draft.path(asks[k].node));
    CHECK(std::vector<float>(raw.begin(), raw.end()) == target_law()(all));
  }
  CHECK(b.forward.forwards == 1);
}

TEST_CASE("A row is fed once: twins and drafts that share a path share it") {
  Bench b;
  const std::vector<Token> text = prompt(5);
  const auto s = b.view(1, text);
  Draft draft(kVocab);
  draft.append({0, 3, Law::COUPLED});
  draft.append({0, 3, Law::COUPLED});
  const std::vector<Ask> asks{{s, draft, 1}, {s, draft, 2}, {s, draft, 0}};
  const auto rows = b.model.forward(asks);
  CHECK(rows[0].same_as(rows[1]));
  CHECK(b.forward.rows == 6);
  b.model.forward(asks);
  CHECK(b.forward.rows == 6);
}

TEST_CASE("After a fully accepted chain the next draft feeds two rows, else one") {
  Bench b;
  std::vector<Token> text = prompt(5);
  const auto step = [&](int depth, int kept) {
    const std::int64_t before = b.forward.rows;
    Draft draft(kVocab);
    std::int64_t first = 0;
    for (Node n = 0; n < depth; ++n) {
      const Ask ask{b.view(1, text), draft, n};
      b.model.forward({&ask, 1});
      if (n == 0) first = b.forward.rows - before;
      draft.append({n, static_cast<Token>((n + text.size()) % kVocab)});
    }
    const auto path = draft.path(kept);
    b.model.commit(1, path);
    text.insert(text.end(), path.begin(), path.end());
    text.push_back(1);
    return first;
  };
  CHECK(step(3, 3) == 5);
  CHECK(step(3, 1) == 2);
  CHECK(step(3, 0) == 1);
  CHECK(step(3, 3) == 1);
  CHECK(step(1, 1) == 2);
  CHECK(step(0, 0) == 0);  // plain steps leave the cache behind
  CHECK(step(0, 0) == 0);
  CHECK(step(2, 2) == 4);
  b.check_replay(1, text);
}

TEST_CASE("After every step the cache is a fresh replay of the committed tokens") {
  std::mt19937 g(5);
  for (const int width : {3, 7, 512}) {
    Bench b(width);
    std::map<std::uint64_t, std::vector<Token>> texts{{1, prompt(15)}, {2, prompt(33)}, {3, {1}}};
    for (int round = 0; round < 60; ++round)
      for (auto& [id, text] : texts) {
        Draft draft(kVocab);
        for (int n = static_cast<int>(g() % 6); n > 0; --n) {
          const Node parent = static_cast<Node>(g() % (draft.size() + 1));
          const Token token = static_cast<Token>(g() % kVocab);
          if (draft.child(parent, token) == kNone) draft.append({parent, token});
          const Ask ask{b.view(id, text), draft, static_cast<Node>(g() % (draft.size() + 1))};
          b.model.forward({&ask, 1});
        }
        const auto path = draft.path(static_cast<Node>(g() % (draft.size() + 1)));
        if (g() % 8 == 0)
          b.model.roll_back(id);
        else
          b.model.commit(id, path);
        text.insert(text.end(), path.begin(), path.end());
        text.push_back(static_cast<Token>(g() % kVocab));
        if (text.size() > 180) {
          b.model.forget(id);
          text = prompt(1 + static_cast<int>(g() % 40));
        } else if (b.model.cache(id)) {
          b.check_replay(id, text);
        }
      }
    for (const auto& [id, text] : texts) b.model.forget(id);
    CHECK(b.pool.available() == b.pool.total());
    CHECK(b.pool.guards_intact());
  }
}

TEST_CASE("Beyond its context or its pages a draft model says so, and goes on afterwards") {
  Bench b(512, 2);
  const std::vector<Token> text = prompt(30);
  const auto s = b.view(1, text);
  Draft draft(kVocab);
  const Ask root{s, draft, 0};
  b.model.forward({&root, 1});
  for (Node n = 0; n < 5; ++n) draft.append({n, 1});
  const Ask deep{s, draft, 5};
  CHECK_THROWS_WITH(b.model.forward({&deep, 1}), Catch::Matchers::Contains("pages left"));
  b.model.roll_back(1);
  CHECK(b.pool.available() == 2);
  CHECK_FALSE(b.model.reserve(s, 5));
  CHECK(b.model.reserve(s, 2));
  CHECK_NOTHROW(b.model.forward({&root, 1}));

  Bench wide;
  const std::vector<Token> full = prompt(200);
  const auto t = wide.view(2, full);
  const Ask last{t, draft, 0}, beyond{t, draft, 1};
  CHECK_NOTHROW(wide.model.forward({&last, 1}));
  CHECK_THROWS_WITH(wide.model.forward({&beyond, 1}), Catch::Matchers::Contains("context of 200"));
}

TEST_CASE("The draft's own cache is right through whole texts, at page boundaries too") {
  for (const int size : {14, 15, 16, 17, 31}) {
    CellSpec spec = sampled(like_target(3), table("2;2,1;1", "new"), {"accept_delta"});
    Cell cell(spec);
    Philox noise;
    Sequence s = cell.open(prompt(size), size, 60);
    while (s.tokens_left > 0) {
      cell.run(s, noise);
      const kv::Cache* cache = cell.model.cache(s.request_key);
      if (!cache) continue;
      const auto held = ScriptedModel::text_of(*cache);
      REQUIRE(held.size() + 2 >= s.tokens.size() - 1);
      REQUIRE(std::equal(held.begin(), held.end(), s.tokens.begin()));
      REQUIRE(ScriptedModel::text_of(*s.target_kv) ==
              std::vector<Token>(s.tokens.begin(), s.tokens.end() - 1));
    }
  }
}

}  // namespace
}  // namespace redline::step
