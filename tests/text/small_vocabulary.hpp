// SPDX-License-Identifier: Apache-2.0
// A vocabulary one can hold in mind: 256 bytes, a few merges, four specials, one padding id.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "files/gguf.hpp"
#include "files/gguf_writer.hpp"
#include "text/byte_alphabet.hpp"

namespace redline::tests {

struct SmallVocabulary {
  std::vector<std::string> tokens, merges;
  std::vector<std::int64_t> kinds;
  std::string pre = "gpt-2", chat_template;
  bool add_bos = false;

  explicit SmallVocabulary(std::string pre_tokenizer = "gpt-2") : pre(std::move(pre_tokenizer)) {
    for (int byte = 0; byte < 256; ++byte)
      add(text::piece_of(std::string(1, static_cast<char>(byte))));
    for (const char* merge : {"h e", "l l", "he ll", "hell o", "Ġ w", "o r", "Ġw or", "1 2", "' s",
                              "Ã ©", "a a", "aa aa"}) {
      const std::string pair = merge;
      const std::size_t gap = pair.find(' ');
      merges.push_back(pair);
      add(pair.substr(0, gap) + pair.substr(gap + 1));
    }
    for (const char* special : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}) add(special, 3);
    add("<tool>", 4);
    add("[PAD272]", 5);
  }
  void add(std::string token, std::int64_t kind = 1) {
    tokens.push_back(std::move(token));
    kinds.push_back(kind);
  }

  files::Gguf file() const {
    files::GgufWriter writer;
    writer.set("tokenizer.ggml.model", std::string("gpt2"));
    writer.set("tokenizer.ggml.pre", pre);
    writer.set("tokenizer.ggml.tokens", tokens);
    writer.set("tokenizer.ggml.merges", merges);
    writer.set("tokenizer.ggml.token_type", kinds);
    writer.set("tokenizer.ggml.bos_token_id", std::uint64_t{268});
    writer.set("tokenizer.ggml.eos_token_id", std::uint64_t{270});
    writer.set("tokenizer.ggml.add_bos_token", add_bos);
    if (!chat_template.empty()) writer.set("tokenizer.chat_template", chat_template);
    const std::string text = writer.bytes();
    const auto bytes = std::as_bytes(std::span(text));
    return files::Gguf::of_bytes({bytes.begin(), bytes.end()}, "small.gguf");
  }
};

inline files::Gguf small_vocabulary(const std::string& pre = "gpt-2") {
  return SmallVocabulary(pre).file();
}

}  // namespace redline::tests
