// SPDX-License-Identifier: Apache-2.0
// What a graph may not be is said at load, with op and tensor.
#include <catch2/catch.hpp>

#include "modules/rig.hpp"
#include "redline/error.hpp"

using namespace redline;
using namespace redline::tests;
using model::ModulePlan;

namespace {

constexpr std::int32_t kHidden = 256;

// A file with some tensors for a target of width 256.
files::Gguf weights() {
  HeadWriter w(files::TensorType::F32, 1);
  w.matrix("square", kHidden, kHidden);
  w.matrix("half", kHidden, 128);
  w.matrix("odd", 40, kHidden);
  w.matrix("few", kHidden, 20);
  w.matrix("biased", kHidden, kHidden);
  w.floats("biased.bias", 20, 0, 1);
  w.norm("norm", kHidden);
  w.floats("offsets", 20, 0, 0);
  w.floats("short", 19, 0, 0);
  w.writer.set("module.attention.head_count", std::uint64_t{4});
  w.writer.set("module.attention.head_count_kv", std::uint64_t{2});
  w.writer.set("module.attention.key_length", std::uint64_t{64});
  const std::string bytes = w.writer.bytes();
  const auto raw = std::as_bytes(std::span(bytes));
  return files::Gguf::of_bytes({raw.begin(), raw.end()}, "head.gguf");
}

const model::Architecture& target() {
  static const auto architecture = [] {
    const std::string bytes = model::tiny_model({}).bytes();
    const auto raw = std::as_bytes(std::span(bytes));
    return model::architecture_of(files::Gguf::of_bytes({raw.begin(), raw.end()}, "tiny.gguf"));
  }();
  return architecture;
}

ModulePlan plan(void (*build)(ModuleBuilder&), std::int32_t taps = 1) {
  return model::module_plan(weights(), model::record_graph(build), target(), taps);
}

struct Wrong {
  void (*build)(ModuleBuilder&);
  const char* fact;
};

}  // namespace

TEST_CASE("A graph that cannot be run is refused at load, naming op and tensor") {
  using M = ModuleBuilder;
  const Wrong wrong = GENERATE(values<Wrong>({
      {[](M& m) { m.embed(); }, "no head()"},
      {[](M& m) { m.head("none", m.embed()); },
       "head.gguf: module op 1, head(none): the file has no tensor none.weight"},
      {[](M& m) { m.head(m.linear("half", m.embed())); }, "takes width 256 and no ids, got 128"},
      {[](M& m) { m.head("square", m.embed()); },
       "has 256 rows, the target knows 323 tokens; name the ids"},
      {[](M& m) { m.head("few", m.embed(), "short"); }, "tensor short is [19, 1], expected [20]"},
      {[](M& m) { m.head("few", m.embed(), "none"); }, "no tensor none"},
      {[](M& m) { m.head(m.linear("square", m.linear("half", m.embed()))); },
       "op 2, linear(square): tensor square.weight is [256, 256], its input has width 128"},
      {[](M& m) { m.head(m.linear("biased", m.embed())); },
       "tensor biased.bias is [20, 1], expected [256]"},
      {[](M& m) { m.head(m.norm("norm", m.linear("half", m.embed()))); },
       "tensor norm.weight is [256, 1], expected [128]"},
      {[](M& m) { m.head(m.add(m.embed(), m.linear("half", m.embed()))); },
       "two values of one width, got 256 and 128"},
      {[](M& m) { m.head(m.concat({})); }, "concat(): takes at least one value"},
      {[](M& m) { m.head(m.hidden(1)); },
       "tap 1 asked for, the drafter's contract declares 1; declare it in needs.taps"},
      {[](M& m) { m.head(m.attention(m.embed(), m.embed(), m.linear("half", m.embed()))); },
       "q, k and v have widths 256, 256 and 128, the heads need 256, 128 and 128"},
      {[](M& m) { m.head(m.recycled()); },
       "head(): rests on recycled(), which committed tokens lack"},
      {[](M& m) {
         const Value kv = m.linear("half", m.recycled());
         m.head(m.attention(m.embed(), kv, kv));
       },
       "attention(): rests on recycled()"},
      {[](M& m) { m.head(m.choose(m.embed(), m.recycled())); }, "keeps no feature()"},
      {[](M& m) { m.feature(m.embed()), m.feature(m.embed()), m.head(m.embed()); },
       "op 3, feature(): a second feature()"},
      {[](M& m) { m.feature(m.linear("half", m.embed())), m.head(m.embed()); },
       "of width 128, module.feature_length is 256"},
      {[](M& m) { m.block(), m.head(m.hidden(0)); },
       "rests on hidden(), which the rows of a block"},
      {[](M& m) { m.block(), m.head(m.choose(m.embed(), m.recycled())); },
       "recycled(): in a block"},
      {[](M& m) { m.head({7}); }, "op 0, head(), takes value 7 of another graph"},
      {[](M& m) {
         m.block();
         m.head({0});
       },
       "head(): takes op 0, which gives it no value"},
  }));
  CAPTURE(wrong.fact);
  CHECK_THROWS_AS(plan(wrong.build), InputError);
  CHECK_THROWS_WITH(plan(wrong.build), Catch::Contains(wrong.fact));
}

TEST_CASE("Rows of a matrix that no kernel takes are refused") {
  const auto build = [](ModuleBuilder& m) { m.head(m.linear("odd", m.linear("few", m.embed()))); };
  CHECK_THROWS_WITH(plan(build), Catch::Contains("its input has width 20"));
}

TEST_CASE("How rows are fed follows from the graph") {
  const auto feeding = [](const Head& head) { return Rig(head).plan.feeding; };
  CHECK(feeding(medusa()).is_root_only);
  CHECK(feeding(medusa()).heads == kMedusaHeads);
  CHECK_FALSE(feeding(medusa()).is_level_by_level);
  CHECK_FALSE(feeding(eagle()).is_root_only);
  CHECK(feeding(eagle()).is_level_by_level);
  CHECK(feeding(flash()).is_block);
  CHECK_FALSE(feeding(flash()).is_root_only);
  for (const Head& head : {medusa(), eagle(), flash()}) CHECK(feeding(head).takes_features);
  CHECK_FALSE(plan([](ModuleBuilder& m) { m.head(m.embed()); }).feeding.takes_features);
}

TEST_CASE("What a head keeps of a row follows from the graph") {
  CHECK(Rig(medusa()).module.kv_shape() == kv::KvShape{});
  CHECK(Rig(eagle()).module.kv_shape() == kv::KvShape{1, 2, 32, 256});
  CHECK(Rig(flash()).module.kv_shape() == kv::KvShape{2, 4, 16, 0});
}

TEST_CASE("A graph travels as bytes; bytes that are none are refused") {
  for (const Head& head : {medusa(), eagle(), flash()}) {
    const auto graph = model::record_graph(head.build);
    auto bytes = model::to_bytes(graph);
    CHECK(model::graph_of_bytes(bytes) == graph);
    bytes.resize(bytes.size() - 1);
    CHECK_THROWS_AS(model::graph_of_bytes(bytes), InputError);
  }
}

TEST_CASE("Ids that are no tokens, or one twice, fail the load") {
  const auto load = [](std::vector<float> offsets) {
    HeadWriter w(files::TensorType::F32, 1);
    w.matrix("few", kHidden, 3);
    w.add("ids", offsets);
    const model::TinyFile file(w.writer), of_target{model::TinySpec{}};
    model::TinyDecoder decoder(of_target);
    const auto build = [](ModuleBuilder& m) { m.head("few", m.embed(), "ids"); };
    const model::Module module(
        file.open(), model::module_plan(file.open(), model::record_graph(build), target(), 0), {},
        *decoder, decoder.device(), {.cache_folder = file.cache(), .progress = {}});
  };
  CHECK_NOTHROW(load({0, 320, 320}));
  CHECK_THROWS_WITH(load({0, 1, 321}), Catch::Contains("row 2 is token 323"));
  CHECK_THROWS_WITH(load({0, -2, 0}), Catch::Contains("row 1 is token -1"));
  CHECK_THROWS_WITH(load({0, 0.5, 0}), Catch::Contains("row 1 is token 1.5"));
  CHECK_THROWS_WITH(load({1, 0, 0}), Catch::Contains("row 1 is token 1.000000, as an earlier"));
  CHECK_THROWS_AS(load({0, 1, 321}), InputError);
}
