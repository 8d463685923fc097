// SPDX-License-Identifier: Apache-2.0
// Random weights for the toy heads, the same bytes on every machine.
#pragma once
#include <cmath>
#include <cstring>

#include "files/gguf_writer.hpp"
#include "model/random_blocks.hpp"
#include "modules/heads.hpp"

namespace redline::tests {

class HeadWriter {
 public:
  HeadWriter(files::TensorType type, std::uint64_t seed) : type_(type), seed_(seed) {
    writer.set("general.architecture", std::string("redline_module"));
  }
  // Outputs of deviation `gain` for inputs of deviation 1.
  void matrix(const std::string& name, std::int64_t cols, std::int64_t rows, double gain = 1) {
    model::HashStream random(seed_, name);
    const double deviation = gain / std::sqrt(static_cast<double>(cols));
    writer.add(name + ".weight", type_, {cols, rows},
               model::random_blocks(type_, rows, cols, deviation, random));
  }
  void norm(const std::string& name, std::int64_t size) { floats(name + ".weight", size, 1, 0.25); }
  void floats(const std::string& name, std::int64_t size, double centre, double spread) {
    model::HashStream random(seed_, name);
    std::vector<float> values;
    for (std::int64_t i = 0; i < size; ++i)
      values.push_back(static_cast<float>(centre + (2 * random.unit() - 1) * spread));
    add(name, values);
  }
  void add(const std::string& name, const std::vector<float>& values) {
    const auto raw = std::as_bytes(std::span(values));
    writer.add(name, files::TensorType::F32, {std::ssize(values)}, {raw.begin(), raw.end()});
  }
  files::GgufWriter writer;

 private:
  files::TensorType type_;
  std::uint64_t seed_;
};

inline files::GgufWriter medusa_file(std::int32_t hidden, std::int32_t vocab,
                                     files::TensorType type = files::TensorType::F32) {
  HeadWriter w(type, 1);
  for (int i = 0; i < kMedusaHeads; ++i) {
    const std::string at = std::to_string(i);
    w.matrix(at + ".0.linear", hidden, hidden);
    w.floats(at + ".0.linear.bias", hidden, 0, 0.5);
    w.matrix(at + ".1", hidden, vocab, 4);
  }
  return std::move(w.writer);
}

// Heads unlike the target's: 4 of 32 on 2. The head's row d is token 2 d + 1 while there are such.
inline files::GgufWriter eagle_file(std::int32_t hidden, std::int32_t vocab,
                                    files::TensorType type = files::TensorType::F32) {
  HeadWriter w(type, 2);
  w.writer.set("module.attention.head_count", std::uint64_t{4});
  w.writer.set("module.attention.head_count_kv", std::uint64_t{2});
  w.writer.set("module.attention.key_length", std::uint64_t{32});
  w.writer.set("module.rope.freq_base", 5000.0);
  const std::int64_t width = 384, rows = vocab / 2;
  const std::string at = "midlayer.";
  w.matrix("fc", 3 * hidden, hidden);
  w.norm(at + "input_layernorm", hidden);
  w.norm(at + "hidden_norm", hidden);
  w.norm(at + "post_attention_layernorm", hidden);
  w.matrix(at + "self_attn.q_proj", 2 * hidden, 128, 1.5);
  w.matrix(at + "self_attn.k_proj", 2 * hidden, 64, 1.5);
  w.matrix(at + "self_attn.v_proj", 2 * hidden, 64);
  w.matrix(at + "self_attn.o_proj", 128, hidden);
  w.matrix(at + "mlp.gate_proj", hidden, width);
  w.matrix(at + "mlp.up_proj", hidden, width);
  w.matrix(at + "mlp.down_proj", width, hidden);
  w.norm("norm", hidden);
  w.matrix("lm_head", hidden, rows, 4);
  std::vector<float> offsets;
  for (std::int64_t d = 0; d < rows; ++d) offsets.push_back(static_cast<float>(d + 1));
  w.add("d2t", offsets);
  return std::move(w.writer);
}

inline files::GgufWriter flash_file(std::int32_t hidden,
                                    files::TensorType type = files::TensorType::F32) {
  HeadWriter w(type, 3);
  w.writer.set("module.attention.head_count", std::uint64_t{4});
  w.writer.set("module.attention.head_count_kv", std::uint64_t{4});
  w.writer.set("module.attention.key_length", std::uint64_t{16});
  const std::int64_t width = 320;
  w.matrix("fc", 2 * hidden, hidden);
  w.norm("hidden_norm", hidden);
  for (int layer = 0; layer < kFlashLayers; ++layer) {
    const std::string at = "layers." + std::to_string(layer) + ".";
    w.norm(at + "input_layernorm", hidden);
    w.norm(at + "post_attention_layernorm", hidden);
    for (const char* name : {"q_proj", "k_proj", "v_proj"}) w.matrix(at + name, hidden, 64, 1.5);
    w.matrix(at + "o_proj", 64, hidden);
    w.matrix(at + "gate_proj", hidden, width);
    w.matrix(at + "up_proj", hidden, width);
    w.matrix(at + "down_proj", width, hidden);
  }
  w.norm("norm", hidden);
  return std::move(w.writer);
}

}  // namespace redline::tests
