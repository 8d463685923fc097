// SPDX-License-Identifier: Apache-2.0
// What a file says is held against what it holds; every refusal names the facts that disagree.
#include "model/architecture.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "redline/error.hpp"
#include "tiny.hpp"

using namespace redline;
using namespace redline::model;
using files::TensorType;

namespace {

// The tiny model with one place of its bytes overwritten; `old` must be there once at least.
std::string refusal(std::string bytes, const std::string& old, const std::string& now) {
  const tests::TemporaryFolder folder;
  const auto at = bytes.find(old);
  REQUIRE(at != std::string::npos);
  bytes.replace(at, now.size(), now);
  std::ofstream(folder / "changed.gguf", std::ios::binary) << bytes;
  const auto file = files::Gguf::open(folder / "changed.gguf");
  try {
    shape_of(file);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string u32(std::uint32_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
// A key and its value as GGUF writes a u32.
std::string entry(const std::string& key, std::uint32_t value) { return key + u32(4) + u32(value); }

std::string refusal_with(const std::string& key, files::Value value) {
  auto writer = tiny_model({});
  writer.set(key, std::move(value));
  const TinyFile tiny(writer);
  const auto file = tiny.open();
  try {
    shape_of(file);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("The shape is what the file says") {
  const TinyFile tiny(TinySpec{.architecture = "qwen2", .layers = 3});
  const model::Shape shape = shape_of(tiny.open());
  CHECK(shape.architecture == "qwen2");
  CHECK(shape.layers == 3);
  CHECK(shape.hidden == 256);
  CHECK(shape.heads == 4);
  CHECK(shape.kv_heads == 2);
  CHECK(shape.head_size == 64);
  CHECK(shape.feed_forward == 512);
  CHECK(shape.vocab == 323);
  CHECK(shape.context == 1024);
}

TEST_CASE("An unknown architecture is refused with the known ones") {
  const auto bytes = tiny_model({.architecture = "mamba"}).bytes();
  CHECK_THAT(refusal(bytes, "mamba", "mamba"),
             Catch::Contains("architecture 'mamba'") && Catch::Contains("llama, qwen2"));
}

TEST_CASE("A tensor that is missing, unknown or of another shape is named with both numbers") {
  const auto bytes = tiny_model({}).bytes();
  CHECK_THAT(refusal(bytes, "blk.1.ffn_up.weight", "blk.1.ffn_xx.weight"),
             Catch::Contains("tensor blk.1.ffn_up.weight is missing, expected [256, 512]"));
  const std::string length("\x0d\0\0\0\0\0\0\0", 8);  // not the end of another name
  CHECK_THAT(refusal(bytes, length + "output.weight", length + "outpux.weight"),
             Catch::Contains("tensor outpux.weight is none of this architecture"));
  CHECK_THAT(refusal(bytes, entry("llama.feed_forward_length", 512),
                     entry("llama.feed_forward_length", 768)),
             Catch::Contains("tensor blk.0.ffn_gate.weight is [256, 512]") &&
                 Catch::Contains("asks for [256, 768]"));
  CHECK_THAT(refusal(bytes, entry("llama.block_count", 2), entry("llama.block_count", 3)),
             Catch::Contains("tensor blk.2.attn_norm.weight is missing"));
  CHECK_THAT(refusal(bytes, entry("llama.block_count", 2), entry("llama.block_count", 1)),
             Catch::Contains("tensor blk.1.attn_norm.weight is none of this architecture"));
}

TEST_CASE("A qwen2 file without its biases is refused") {
  const auto bytes = tiny_model({.architecture = "qwen2"}).bytes();
  CHECK_THAT(refusal(bytes, "blk.0.attn_k.bias", "blk.0.attn_k.bxxs"),
             Catch::Contains("tensor blk.0.attn_k.bias is missing, expected [128, 1]"));
}

TEST_CASE("Numbers that do not fit together are refused") {
  const auto bytes = tiny_model({}).bytes();
  const auto changed = [&](const std::string& key, std::uint32_t from, std::uint32_t to) {
    return refusal(bytes, entry("llama." + key, from), entry("llama." + key, to));
  };
  CHECK_THAT(changed("block_count", 2, 4000000),
             Catch::Contains("block_count is 4000000 but the file has only"));
  CHECK_THAT(changed("block_count", 2, 0),
             Catch::Contains("llama.block_count is 0, expected 1 to"));
  CHECK_THAT(changed("attention.head_count", 4, 4294967295u),
             Catch::Contains("llama.attention.head_count is 4294967295"));
  CHECK_THAT(changed("attention.head_count_kv", 2, 3), Catch::Contains("no multiple of the 3 kv"));
  CHECK_THAT(changed("attention.head_count", 4, 6),
             Catch::Contains("heads times head size is 252"));
  CHECK_THAT(changed("rope.dimension_count", 64, 32),
             Catch::Contains("rope.dimension_count is 32 but the head size is 64"));
  CHECK_THAT(changed("vocab_size", 323, 324),
             Catch::Contains("vocab_size is 324") && Catch::Contains("is 323"));
}

TEST_CASE("What would change the result if it were passed over is refused by name") {
  CHECK_THAT(refusal_with("llama.rope.scaling.type", std::string("yarn")),
             Catch::Contains("'yarn'") && Catch::Contains("none, linear"));
  CHECK_THAT(refusal_with("llama.rope.scaling.type", std::string("longrope")),
             Catch::Contains("'longrope'"));
  CHECK_THAT(refusal_with("llama.expert_count", std::uint64_t{8}),
             Catch::Contains("llama.expert_count is 8"));
  CHECK_THAT(refusal_with("llama.attention.sliding_window", std::uint64_t{4096}),
             Catch::Contains("sliding_window is 4096"));
  CHECK(refusal_with("llama.expert_count", std::uint64_t{0}) == "accepted");
  CHECK(refusal_with("llama.rope.scaling.type", std::string("none")) == "accepted");
}

TEST_CASE("The memory a model needs is known before it is loaded") {
  const TinyFile tiny(TinySpec{.type = TensorType::Q4_K});
  const auto file = tiny.open();
  LoadOptions options;
  options.max_rows = 8;
  const MemoryNeed few = Decoder::memory_need(file, options);
  options.max_rows = 80;
  const MemoryNeed many = Decoder::memory_need(file, options);
  CHECK(few.weights == many.weights);
  CHECK(few.weights > static_cast<std::int64_t>(file.file_bytes()) * 9 / 10);
  CHECK(many.activations - few.activations > 72 * 323 * 4);
  options.max_wanted = 1;
  CHECK(many.activations - Decoder::memory_need(file, options).activations >= 79 * 323 * 4);
}
