// SPDX-License-Identifier: Apache-2.0
#include "model/tiny_model.hpp"

#include <cmath>

#include "model/random_blocks.hpp"
#include "model/tiny_vocabulary.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

using files::TensorType;

constexpr const char* kChatMl =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' "
    "}}{% endif %}";
constexpr double kHeadGain = 4;  // deviation of the logits at scale 1

// Each tensor has its own stream, named after it: a model with fewer layers shares the rest.
class TinyTensors {
 public:
  TinyTensors(const TinySpec& spec, files::GgufWriter& writer) : spec_(spec), writer_(writer) {}

  // Outputs of deviation `gain` for inputs of deviation 1. K-quants need rows of 256.
  void matrix(const std::string& name, std::int64_t cols, std::int64_t rows, double gain) {
    HashStream random(spec_.seed, name);
    const bool wide = spec_.type >= TensorType::Q4_K && spec_.type <= TensorType::Q6_K;
    const TensorType type = wide && cols % 256 != 0 ? TensorType::Q8_0 : spec_.type;
    const double deviation = gain * spec_.scale / std::sqrt(static_cast<double>(cols));
    writer_.add(name, type, {cols, rows}, random_blocks(type, rows, cols, deviation, random));
  }
  void vector(const std::string& name, std::int64_t size, double centre, double spread) {
    HashStream random(spec_.seed, name);
    std::vector<std::byte> bytes;
    for (std::int64_t i = 0; i < size; ++i) {
      const auto value = static_cast<float>(centre + (2 * random.unit() - 1) * spread);
      const auto* raw = reinterpret_cast<const std::byte*>(&value);
      bytes.insert(bytes.end(), raw, raw + sizeof value);
    }
    writer_.add(name, TensorType::F32, {size}, std::move(bytes));
  }
  void layer(std::int32_t index) {
    const std::string at = "blk." + std::to_string(index) + ".";
    const std::int64_t kv_width = spec_.hidden / spec_.heads * spec_.kv_heads;
    vector(at + "attn_norm.weight", spec_.hidden, 1, 0.25);
    matrix(at + "attn_q.weight", spec_.hidden, spec_.hidden, 1.5);
    matrix(at + "attn_k.weight", spec_.hidden, kv_width, 1.5);
    matrix(at + "attn_v.weight", spec_.hidden, kv_width, 1);
    if (spec_.architecture == "qwen2") {
      vector(at + "attn_q.bias", spec_.hidden, 0, 0.5);
      vector(at + "attn_k.bias", kv_width, 0, 0.5);
      vector(at + "attn_v.bias", kv_width, 0, 0.5);
    }
    matrix(at + "attn_output.weight", spec_.hidden, spec_.hidden, 1);
    vector(at + "ffn_norm.weight", spec_.hidden, 1, 0.25);
    matrix(at + "ffn_gate.weight", spec_.hidden, spec_.feed_forward, 1);
    matrix(at + "ffn_up.weight", spec_.hidden, spec_.feed_forward, 1);
    matrix(at + "ffn_down.weight", spec_.feed_forward, spec_.hidden, 1);
  }

 private:
  const TinySpec& spec_;
  files::GgufWriter& writer_;
};

void set_shape(const TinySpec& spec, std::int64_t vocab, files::GgufWriter& writer) {
  const auto set = [&](const std::string& key, std::int64_t value) {
    writer.set(spec.architecture + "." + key, static_cast<std::uint64_t>(value));
  };
  set("block_count", spec.layers);
  set("context_length", spec.context);
  set("embedding_length", spec.hidden);
  set("feed_forward_length", spec.feed_forward);
  set("attention.head_count", spec.heads);
  set("attention.head_count_kv", spec.kv_heads);
  set("vocab_size", vocab);
  set("rope.dimension_count", spec.hidden / spec.heads);
  writer.set(spec.architecture + ".rope.freq_base", 10000.0);
  writer.set(spec.architecture + ".attention.layer_norm_rms_epsilon", 1e-5);
}

void set_text(const TinySpec& spec, const TinyVocabulary& text, files::GgufWriter& writer) {
  const auto id = [](std::int64_t token) { return static_cast<std::uint64_t>(token); };
  writer.set("tokenizer.ggml.model", std::string("gpt2"));
  writer.set("tokenizer.ggml.pre", std::string(spec.architecture == "qwen2" ? "qwen2" : "smollm"));
  writer.set("tokenizer.ggml.tokens", text.tokens);
  writer.set("tokenizer.ggml.token_type", text.types);
  writer.set("tokenizer.ggml.merges", text.merges);
  writer.set("tokenizer.ggml.bos_token_id", id(text.end_of_text));
  writer.set("tokenizer.ggml.eos_token_id", id(text.turn_end));
  writer.set("tokenizer.ggml.padding_token_id", id(text.end_of_text));
  writer.set("tokenizer.ggml.add_bos_token", false);
  writer.set("tokenizer.chat_template", std::string(kChatMl));
}

}  // namespace

files::GgufWriter tiny_model(const TinySpec& spec) {
  if (spec.heads <= 0 || spec.kv_heads <= 0 || spec.hidden % spec.heads != 0 ||
      spec.heads % spec.kv_heads != 0)
    throw InputError("tiny model: hidden " + std::to_string(spec.hidden) + " and kv heads " +
                     std::to_string(spec.kv_heads) + " do not fit " + std::to_string(spec.heads) +
                     " heads");
  const TinyVocabulary text = tiny_vocabulary(spec.extra_vocab);
  const auto vocab = static_cast<std::int64_t>(text.tokens.size());
  files::GgufWriter writer;
  writer.set("general.architecture", spec.architecture);
  writer.set("general.name", std::string("tiny " + spec.architecture));
  set_shape(spec, vocab, writer);
  set_text(spec, text, writer);
  TinyTensors tensors(spec, writer);
  const double unit_gain = std::sqrt(static_cast<double>(spec.hidden));  // entries of deviation 1
  tensors.matrix("token_embd.weight", spec.hidden, vocab, spec.tied ? kHeadGain : unit_gain);
  for (std::int32_t i = 0; i < spec.layers; ++i) tensors.layer(i);
  tensors.vector("output_norm.weight", spec.hidden, 1, 0.25);
  if (!spec.tied) tensors.matrix("output.weight", spec.hidden, vocab, kHeadGain);
  return writer;
}

void write_tiny_model(const TinySpec& spec, const std::filesystem::path& path) {
  tiny_model(spec).write(path);
}

}  // namespace redline::model
