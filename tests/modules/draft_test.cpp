// SPDX-License-Identifier: Apache-2.0
// A head as a drafter's model: its pages follow the committed text, whatever was drafted.
#include <catch2/catch.hpp>
#include <random>

#include "modules/drafting.hpp"
#include "redline/error.hpp"

using namespace redline;
using namespace redline::tests;
using step::DraftModel;

namespace {

constexpr Token kMask = 258;

// A draft of the shape that the head drafts, and the nodes to ask it about, none of which needs a
// row that is not there yet.
Draft some_draft(const Rig& rig, std::mt19937& g) {
  Draft draft(rig.shape.vocab);
  const int nodes = static_cast<int>(g() % 7);
  for (int n = 0; n < nodes && !rig.module.feeding().is_root_only; ++n) {
    const Node parent = rig.module.feeding().is_block ? n : static_cast<Node>(g() % (n + 1));
    Token token = rig.module.feeding().is_block ? kMask : static_cast<Token>(g() % rig.shape.vocab);
    while (draft.child(parent, token) != kNone) token = (token + 1) % rig.shape.vocab;
    draft.append({parent, token});
  }
  return draft;
}

std::vector<Node> all_of(const Draft& draft) {
  std::vector<Node> nodes;
  for (Node n = kRoot; n <= draft.size(); ++n) nodes.push_back(n);
  return nodes;
}

// What a head that sees the text for the first time keeps of it, and its rows at the root.
void check_replay(Rig& rig, Drafting& d) {
  kv::PagePool pool(rig.module.kv_shape(), 40);
  DraftModel fresh(rig.module, pool, false);
  Drafting again(rig, fresh, 1, d.text.tokens);
  REQUIRE(again.fill(d.cache().tokens()));
  REQUIRE(again.cache().tokens() == d.cache().tokens());
  CHECK((kept_of(again.cache()) == kept_of(d.cache())));
  const Draft empty(rig.shape.vocab);
  CHECK((again.ask(empty, {kRoot}) == d.ask(empty, {kRoot})));
  d.roll_back();
}

}  // namespace

TEST_CASE(
    "After any commit, rejection or roll back a head's pages are a fresh replay of the text") {
  const Head head = GENERATE(medusa(), eagle(), flash());
  Rig rig(head, files::TensorType::Q8_0);
  DraftModel model(rig.module, rig.module_pool, true);
  std::mt19937 g(3);
  std::vector<std::unique_ptr<Drafting>> texts;
  for (const std::int32_t size : {1, 12, 33})
    texts.push_back(std::make_unique<Drafting>(rig, model, texts.size() + 1,
                                               model::some_ids(size, rig.shape.vocab, size)));
  for (int round = 0; round < 60; ++round) {
    Drafting& d = *texts[g() % 3];
    if (g() % 4 == 0) d.fill(static_cast<std::int32_t>(g() % 9));
    const Draft draft = some_draft(rig, g);
    if (g() % 5 != 0) d.ask(draft, all_of(draft));
    if (g() % 4 == 0) d.roll_back();
    const Node kept = static_cast<Node>(g() % (draft.size() + 1));
    const bool is_plain = d.text.tokens.size() > 60;
    d.move_on(is_plain ? List<Token>() : draft.path(kept),
              static_cast<Token>(g() % rig.shape.vocab));
    if (d.text.tokens.size() > 90) break;
    if (round % 3 == 0) check_replay(rig, d);
  }
  for (auto& d : texts) check_replay(rig, *d);
  CHECK(rig.module_pool.guards_intact());
  for (std::uint64_t id = 1; id <= 3; ++id) model.forget(id);
  CHECK(rig.module_pool.available() == rig.module_pool.total());
}

TEST_CASE("Rows are the formula's, for nodes asked at once and in any order") {
  Rig rig(eagle());
  const auto head = rig.head_file.open(), target = rig.target_file.open();
  DraftModel model(rig.module, rig.module_pool, true);
  Drafting d(rig, model, 1, model::some_ids(18, rig.shape.vocab));
  Draft tree(rig.shape.vocab);
  for (const Node parent : {0, 0, 1, 2, 3}) tree.append({parent, 2 * tree.size() + 1});
  d.ask(tree, {5, 0, 4, 2});
  for (const Node n : all_of(tree)) {
    std::vector<Token> all = d.text.tokens;
    for (const Token token : tree.path(n)) all.push_back(token);
    const auto raw = model.raw(1, tree.path(n));
    CHECK(error_of(raw, naive_eagle(NaiveHead(head, target), all, d.text.taps).back()) < 1e-3);
  }
}

TEST_CASE("Heads give an ask a row each, and the raw rows are of depths") {
  Rig rig(medusa());
  DraftModel model(rig.module, rig.module_pool, true);
  Drafting a(rig, model, 1, model::some_ids(9, rig.shape.vocab, 1));
  Drafting b(rig, model, 2, model::some_ids(5, rig.shape.vocab, 2));
  const Draft empty(rig.shape.vocab);
  const redline::Sequence of_a = a.view(), of_b = b.view();
  const std::vector<Ask> asks{{of_a, empty, kRoot}, {of_b, empty, kRoot}};
  const auto rows = model.forward(asks);
  REQUIRE(rows.size() == 2 * kMedusaHeads);
  const Token path[] = {4, 5, 6};
  const step::Chain chain;
  for (std::size_t depth = 0; depth < kMedusaHeads; ++depth) {
    const auto raw = model.raw(2, std::span(path).first(depth));
    CHECK(rows[kMedusaHeads + depth].to_dense() == chain.apply({}, raw).to_dense());
  }
  CHECK(model.raw(2, path).empty());
  Draft draft(rig.shape.vocab);
  draft.append({kRoot, 1});
  CHECK_THROWS_WITH(a.ask(draft, {1}), Catch::Contains("below the root"));
}

TEST_CASE("A block is the whole asked draft, made anew by each call") {
  Rig rig(flash());
  const auto head = rig.head_file.open(), target = rig.target_file.open();
  DraftModel model(rig.module, rig.module_pool, true);
  Drafting d(rig, model, 1, model::some_ids(14, rig.shape.vocab));
  for (const int masks : {3, 1, 5}) {
    Draft block(rig.shape.vocab);
    for (Node n = 0; n < masks; ++n) block.append({n, kMask});
    const auto rows = d.ask(block, {masks, 0});
    REQUIRE(rows.size() == 2);
    std::vector<Token> tokens = {d.text.tokens.back()};
    tokens.insert(tokens.end(), masks, kMask);
    const auto expected = naive_flash(NaiveHead(head, target), tokens, d.text.taps);
    for (int k = 0; k <= masks; ++k) {
      const std::vector<Token> path(k, 7);  // whatever was drafted there
      CHECK(error_of(model.raw(1, path), expected[k]) < 1e-3);
    }
  }
  Draft tree(rig.shape.vocab);
  const Draft one(rig.shape.vocab), other(rig.shape.vocab);
  tree.append({kRoot, 1}), tree.append({kRoot, 2});
  CHECK_THROWS_WITH(d.ask(tree, {0}), Catch::Contains("a block is a chain, got a tree"));
  const redline::Sequence seen = d.view();
  const std::vector<Ask> two{{seen, one, kRoot}, {seen, other, kRoot}};
  CHECK_THROWS_WITH(model.forward(two), Catch::Contains("two blocks of one sequence"));
}

TEST_CASE("A head is filled only as far as the target has come") {
  const Head head = GENERATE(eagle(), flash());
  Rig rig(head);
  DraftModel model(rig.module, rig.module_pool, false);
  Drafting d(rig, model, 1, model::some_ids(20, rig.shape.vocab));
  d.text.tokens.insert(d.text.tokens.end(), 6, 3);  // committed, not computed yet
  REQUIRE(d.fill(100));
  CHECK(d.cache().tokens() == (rig.module.feeding().is_block ? 19 : 20));
}

TEST_CASE("A head that reads the target's states cannot begin without them") {
  Rig rig(eagle());
  DraftModel model(rig.module, rig.module_pool, false);
  const std::vector<Token> tokens{1, 2};
  CHECK_THROWS_AS(model.begin({1, tokens, 0, 10, rig.shape.vocab}, step::Chain()), Error);
}
