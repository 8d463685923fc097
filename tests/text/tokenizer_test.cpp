// SPDX-License-Identifier: Apache-2.0
#include "text/tokenizer.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <random>

#include "redline/error.hpp"
#include "text/models_here.hpp"
#include "text/small_vocabulary.hpp"

using namespace redline;
using namespace redline::tests;
using Catch::Contains;
using text::Specials;
using text::Tokenizer;

namespace {

std::vector<std::string> pieces(const Tokenizer& tokenizer, std::string_view text,
                                Specials specials = Specials::PLAIN_TEXT) {
  std::vector<std::string> out;
  for (const Token token : tokenizer.encode(text, specials))
    out.emplace_back(tokenizer.bytes(token));
  return out;
}
using Pieces = std::vector<std::string>;

std::string random_bytes(std::mt19937& random, std::size_t length) {
  std::string text;
  for (std::size_t i = 0; i < length; ++i) text += static_cast<char>(random());
  return text;
}

}  // namespace

TEST_CASE("the pair of lowest rank merges first, within a word") {
  const Tokenizer tokenizer(small_vocabulary());
  CHECK(pieces(tokenizer, "hello world") == Pieces{"hello", " wor", "l", "d"});
  CHECK(pieces(tokenizer, "aaaaaaa") == Pieces{"aaaa", "aa", "a"});
  CHECK(pieces(tokenizer, "it's") == Pieces{"i", "t", "'s"});
  CHECK(pieces(tokenizer, "\xC3\xA9") == Pieces{"\xC3\xA9"});
  CHECK(pieces(tokenizer, "").empty());
}

TEST_CASE("families split digits each in their way") {
  CHECK(pieces(Tokenizer(small_vocabulary("gpt-2")), "12") == Pieces{"12"});
  CHECK(pieces(Tokenizer(small_vocabulary("smollm")), "12") == Pieces{"1", "2"});
  CHECK(pieces(Tokenizer(small_vocabulary("qwen2")), "12") == Pieces{"1", "2"});
  CHECK(pieces(Tokenizer(small_vocabulary("llama-bpe")), "12") == Pieces{"12"});
}

TEST_CASE("qwen2 composes, and leaves marks newer than Unicode 9 where they stand") {
  const Tokenizer composing(small_vocabulary("qwen2")), plain(small_vocabulary("gpt-2"));
  CHECK(composing.decode(composing.encode("e\u0301", Specials::PLAIN_TEXT)) == "\u00e9");
  CHECK(plain.decode(plain.encode("e\u0301", Specials::PLAIN_TEXT)) == "e\u0301");
  CHECK(composing.decode(composing.encode("a\u0315\u0300", Specials::PLAIN_TEXT)) ==
        "\u00e0\u0315");
  // U+1DF6 (Unicode 10) is of class 232, U+0323 of 220: newer tables would swap them.
  CHECK(composing.decode(composing.encode("x\u1df6\u0323", Specials::PLAIN_TEXT)) ==
        "x\u1df6\u0323");
}

TEST_CASE("specials are tokens only where asked for, the longest first") {
  SmallVocabulary vocabulary;
  vocabulary.add("<|im_end|>x", 3);
  const Tokenizer tokenizer(vocabulary.file());
  CHECK(pieces(tokenizer, "<|im_end|>").size() == 10);
  CHECK(pieces(tokenizer, "aa<|im_end|>\n<tool>", Specials::PARSE) ==
        Pieces{"aa", "<|im_end|>", "\n", "<tool>"});
  CHECK(pieces(tokenizer, "<|im_end|>x<|im_end|", Specials::PARSE).front() == "<|im_end|>x");
  CHECK(pieces(tokenizer, "[PAD272]", Specials::PARSE).size() == 8);  // padding is never text
}

TEST_CASE("the file's special ids are known") {
  const Tokenizer tokenizer(small_vocabulary());
  CHECK(tokenizer.vocab() == 273);
  CHECK(tokenizer.bos() == 268);
  CHECK(tokenizer.eos() == 270);
  CHECK_FALSE(tokenizer.add_bos());
  const auto ends = tokenizer.end_of_generation();
  CHECK(std::vector<Token>(ends.begin(), ends.end()) == std::vector<Token>{268, 270});
  CHECK(tokenizer.is_control(268));
  CHECK(tokenizer.is_control(272));
  CHECK(tokenizer.is_padding(272));
  CHECK_FALSE(tokenizer.is_control(271));
  CHECK(tokenizer.find("<|im_end|>") == 270);
  CHECK(tokenizer.find("hello") == 259);
  CHECK_FALSE(tokenizer.find("nope").has_value());
}

TEST_CASE("random bytes come back exactly, in every family") {
  std::mt19937 random(1);
  for (const char* pre : {"gpt-2", "smollm", "llama-bpe", "qwen2"}) {
    const Tokenizer tokenizer(small_vocabulary(pre));
    for (int round = 0; round < 500; ++round) {
      const std::string text = random_bytes(random, 8 + random() % 60);
      CHECK(tokenizer.decode(tokenizer.encode(text, Specials::PARSE)) == text);
    }
  }
}

TEST_CASE("bytes without a token are left out and named") {
  SmallVocabulary vocabulary;
  vocabulary.tokens[4] = "unreachable";
  const Tokenizer tokenizer(vocabulary.file());
  CHECK(tokenizer.missing_bytes() == "\x04");
  CHECK(pieces(tokenizer, "a\x04o") == Pieces{"a", "o"});
  CHECK(pieces(tokenizer, "!\x04!") == Pieces{"!", "!"});
}

TEST_CASE("a vocabulary that is not as it should be is refused by what is wrong") {
  const auto refusal = [](const SmallVocabulary& vocabulary) -> std::string {
    try {
      Tokenizer tokenizer(vocabulary.file());
    } catch (const InputError& e) {
      return e.what();
    }
    return "no refusal";
  };
  SmallVocabulary odd("klingon");
  CHECK_THAT(refusal(odd), Contains("'klingon'") && Contains("gpt-2, phi-2, smollm"));
  odd = SmallVocabulary();
  odd.merges.push_back("q z");
  CHECK_THAT(refusal(odd), Contains("'q z'") && Contains("'qz'"));
  odd = SmallVocabulary();
  odd.merges.push_back("nospace");
  CHECK_THAT(refusal(odd), Contains("'nospace'"));
  odd = SmallVocabulary();
  odd.kinds.pop_back();
  CHECK_THAT(refusal(odd), Contains("273 tokens and 272 token types"));
  odd = SmallVocabulary();
  odd.kinds.back() = 9;
  CHECK_THAT(refusal(odd), Contains("token 272 is of type 9"));
  odd = SmallVocabulary();
  std::swap(odd.tokens[256], odd.tokens[269]);
  CHECK_THAT(refusal(odd), Contains("'h e'") && Contains("no token"));
  odd = SmallVocabulary();
  odd.merges.clear();
  odd.tokens.resize(256);
  odd.kinds.resize(256);
  CHECK_THAT(refusal(odd), Contains("bos_token_id") && Contains("268") && Contains("256 tokens"));
  const Tokenizer good(small_vocabulary());
  CHECK_THROWS_WITH(good.bytes(273), Contains("token 273 is outside"));
  CHECK_THROWS_WITH(good.bytes(-1), Contains("token -1 is outside"));
}

TEST_CASE("another tokenizer model is refused by name") {
  files::GgufWriter writer;
  writer.set("tokenizer.ggml.model", std::string("llama"));
  const std::string text = writer.bytes();
  const auto bytes = std::as_bytes(std::span(text));
  const auto file = files::Gguf::of_bytes({bytes.begin(), bytes.end()}, "spm.gguf");
  CHECK_THROWS_WITH(Tokenizer(file), Contains("spm.gguf") && Contains("'llama'"));
}

TEST_CASE("the hash tells vocabularies apart") {
  const std::string base = Tokenizer(small_vocabulary()).sha256();
  CHECK(Tokenizer(small_vocabulary()).sha256() == base);
  CHECK(Tokenizer(small_vocabulary("smollm")).sha256() != base);
  SmallVocabulary other;
  std::swap(other.merges[0], other.merges[1]);
  CHECK(Tokenizer(other.file()).sha256() != base);
  other = SmallVocabulary();
  other.kinds[271] = 3;
  CHECK(Tokenizer(other.file()).sha256() != base);
}

TEST_CASE("a word of a hundred thousand letters takes no quadratic time") {
  const Tokenizer tokenizer(small_vocabulary());
  const std::string text(1'000'000, 'a');  // quadratic: minutes
  CHECK(tokenizer.encode(text, Specials::PLAIN_TEXT).size() == 250'000);
}

TEST_CASE("real vocabularies decode what they encode") {
  std::mt19937 random(2);
  if (const auto model = model_here(kQwenHalf)) {
    const Tokenizer tokenizer(*model);
    CHECK(tokenizer.missing_bytes().empty());
    CHECK(tokenizer.eos() == 151645);
    for (int round = 0; round < 200; ++round) {
      const std::string text = random_bytes(random, random() % 100);
      CHECK(tokenizer.decode(tokenizer.encode(text, Specials::PLAIN_TEXT)) == text);
    }
  }
  if (const auto model = model_here(kSmolLm2)) {
    const Tokenizer tokenizer(*model);
    CHECK(tokenizer.missing_bytes().size() == 21);  // this vocabulary never saw U+0004 and kin
    for (int round = 0; round < 200; ++round) {
      std::string text = random_bytes(random, random() % 100);
      std::erase_if(text, [&](char byte) {
        return tokenizer.missing_bytes().find(byte) != std::string::npos;
      });
      CHECK(tokenizer.decode(tokenizer.encode(text, Specials::PLAIN_TEXT)) == text);
    }
  }
}
