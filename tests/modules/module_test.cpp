// SPDX-License-Identifier: Apache-2.0
// The toy heads against their formulas in float64.
#include "model/module.hpp"

#include <catch2/catch.hpp>

#include "modules/rig.hpp"
#include "redline/error.hpp"

using namespace redline;
using namespace redline::tests;

namespace {

constexpr double kFloatError = 1e-3;  // of K and V in F16

}  // namespace

TEST_CASE("Medusa's heads are residual blocks on the target's last state") {
  Rig rig(medusa());
  Text text(rig, model::some_ids(20, rig.shape.vocab));
  const auto lease = kv::Lease::reserve(text.of_head, text.root() + 1);
  const model::Output& output = rig.module.forward(text.root_rows());
  const auto head = rig.head_file.open(), target = rig.target_file.open();
  const auto expected = naive_medusa(NaiveHead(head, target), text.taps);
  REQUIRE(output.heads == kMedusaHeads);
  REQUIRE(output.logits.size() == 20 * kMedusaHeads);
  for (int i = 0; i < kMedusaHeads; ++i)
    CHECK(error_of(output.logits[text.root() * kMedusaHeads + i], expected[i]) < kFloatError);
  CHECK(output.logits[0].empty());
}

TEST_CASE("EAGLE-3 goes from the target's taps to its own feature, on a chain and on a tree") {
  Rig rig(eagle());
  const auto head = rig.head_file.open(), target = rig.target_file.open();
  const NaiveHead naive(head, target);
  Text text(rig, model::some_ids(23, rig.shape.vocab));
  const std::int32_t root = text.root();
  text.fill(9, 4);
  const auto lease = kv::Lease::reserve(text.of_head, 23 + 7 - 9);
  const auto expect = [&](std::span<const float> found, std::vector<Token> path) {
    std::vector<Token> all = text.tokens;
    all.insert(all.end(), path.begin(), path.end());
    CHECK(error_of(found, naive_eagle(naive, all, text.taps).back()) < kFloatError);
  };
  const model::Batch first = text.root_rows();
  expect(rig.module.forward(first).logits.back(), {});
  // 1 and 2 below the root, 3 and 4 below 2, 5 below 3, 6 below 4
  const Token token[] = {0, 7, 9, 11, 12, 13, 250};
  const auto level = [&](std::vector<std::vector<std::int32_t>> lines) {
    model::Batch batch;
    for (auto& line : lines) {
      for (std::int32_t& node : line) node += root;
      text.add_node(batch, token[line.back() - root], line);
    }
    return batch;
  };
  const model::Output* output = &rig.module.forward(level({{1}, {2}}));
  expect(output->logits[0], {7});
  expect(output->logits[1], {9});
  output = &rig.module.forward(level({{2, 3}, {2, 4}}));
  expect(output->logits[0], {9, 11});
  expect(output->logits[1], {9, 12});
  output = &rig.module.forward(level({{2, 3, 5}, {2, 4, 6}}));
  expect(output->logits[0], {9, 11, 13});
  expect(output->logits[1], {9, 12, 250});
  CHECK(rig.module_pool.guards_intact());
}

TEST_CASE("DFlash's block sees itself both ways and the target's states as injected K and V") {
  Rig rig(flash());
  const auto head = rig.head_file.open(), target = rig.target_file.open();
  Text text(rig, model::some_ids(21, rig.shape.vocab));
  text.fill(13, 5);
  constexpr Token kMask = 258;
  for (const std::int32_t masks : {0, 1, 6}) {
    const auto lease = kv::Lease::reserve(text.of_head, 20 + masks + 1 - 13);
    const model::Output& output = rig.module.forward(text.block_rows(kMask, masks));
    std::vector<Token> block = {text.tokens.back()};
    block.insert(block.end(), masks, kMask);
    const auto expected = naive_flash(NaiveHead(head, target), block, text.taps);
    for (std::int32_t k = 0; k <= masks; ++k) {
      CAPTURE(masks, k);
      CHECK(error_of(output.logits[output.logits.size() - masks - 1 + k], expected[k]) <
            kFloatError);
    }
  }
  CHECK(rig.module_pool.guards_intact());
}

TEST_CASE("A row that the graph cannot serve is an error that says why") {
  SECTION("Medusa below the root") {
    Rig rig(medusa());
    Text text(rig, model::some_ids(5, rig.shape.vocab));
    const auto lease = kv::Lease::reserve(text.of_head, 6);
    model::Batch batch;
    text.add_node(batch, 1, {5});
    CHECK_THROWS_WITH(rig.module.forward(batch), Catch::Contains("row 0: below the root"));
  }
  SECTION("EAGLE-3 in one forward with the parent") {
    Rig rig(eagle());
    Text text(rig, model::some_ids(5, rig.shape.vocab));
    const auto lease = kv::Lease::reserve(text.of_head, 6);
    model::Batch batch = text.root_rows();
    text.add_node(batch, 1, {5});
    CHECK_THROWS_WITH(rig.module.forward(batch), Catch::Contains("parent is in the same forward"));
  }
  SECTION("a token that the target has not computed") {
    Rig rig(eagle());
    Text text(rig, model::some_ids(5, rig.shape.vocab));
    text.tokens.push_back(1);
    const auto lease = kv::Lease::reserve(text.of_head, 6);
    CHECK_THROWS_WITH(rig.module.forward(text.root_rows()),
                      Catch::Contains("needs the target's states of position 4, the target has "
                                      "computed 4"));
  }
  SECTION("features of another target") {
    Rig rig(eagle()), other(flash());
    Text text(rig, model::some_ids(5, rig.shape.vocab));
    const kv::Cache foreign(other.target_pool);
    const auto lease = kv::Lease::reserve(text.of_head, 5);
    model::Batch batch = text.root_rows();
    batch.segments[0].features = &foreign;
    CHECK_THROWS_WITH(rig.module.forward(batch), Catch::Contains("another target's shape"));
  }
  SECTION("a block where there is none, and a node outside of the block") {
    Rig rig(eagle()), of_blocks(flash());
    Text text(rig, model::some_ids(5, rig.shape.vocab));
    Text block(of_blocks, model::some_ids(5, rig.shape.vocab));
    const auto lease = kv::Lease::reserve(text.of_head, 6);
    const auto other = kv::Lease::reserve(block.of_head, 6);
    CHECK_THROWS_WITH(rig.module.forward(text.block_rows(1, 1)), Catch::Contains("it has none"));
    model::Batch batch;
    block.add_node(batch, 1, {5});
    CHECK_THROWS_WITH(of_blocks.module.forward(batch), Catch::Contains("outside of a block"));
  }
  SECTION("a block that does not hold its own row") {
    Rig rig(flash());
    Text text(rig, model::some_ids(5, rig.shape.vocab));
    const auto lease = kv::Lease::reserve(text.of_head, 6);
    model::Batch batch = text.block_rows(1, 1);
    batch.rows.back().prefix = 5;
    CHECK_THROWS_WITH(rig.module.forward(batch), Catch::Contains("not its own slot 5"));
  }
}
