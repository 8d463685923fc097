// SPDX-License-Identifier: Apache-2.0
// Ill-formed samples and what stands for them: the Unicode standard, tables 3-8 to 3-11.
#include "text/detokenizer.hpp"

#include <catch2/catch.hpp>

#include "files/utf8.hpp"
#include "text/small_vocabulary.hpp"

using namespace redline;
using namespace redline::tests;

namespace {

// One byte a token, so that every character comes in pieces.
std::vector<Token> by_bytes(std::string_view text) {
  std::vector<Token> tokens;
  for (const char byte : text) tokens.push_back(static_cast<std::uint8_t>(byte));
  return tokens;
}

std::string all(const text::Tokenizer& tokenizer, std::string_view text) {
  text::Detokenizer detokenizer(tokenizer);
  std::string out;
  for (const Token token : by_bytes(text)) out += detokenizer.push(token);
  return out + detokenizer.finish();
}

std::string replacements(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += files::kReplacement;
  return out;
}

}  // namespace

TEST_CASE("a character comes out with its last byte, never before") {
  const text::Tokenizer tokenizer(small_vocabulary());
  text::Detokenizer detokenizer(tokenizer);
  const auto smile = by_bytes("\xF0\x9F\x99\x82");
  CHECK(detokenizer.push(smile[0]).empty());
  CHECK(detokenizer.push(smile[1]).empty());
  CHECK(detokenizer.push(smile[2]).empty());
  CHECK(detokenizer.push(smile[3]) == "\xF0\x9F\x99\x82");
  CHECK(detokenizer.push('a') == "a");
  CHECK(detokenizer.finish().empty());
}

TEST_CASE("control tokens give nothing and part no character") {
  const text::Tokenizer tokenizer(small_vocabulary());
  text::Detokenizer detokenizer(tokenizer);
  CHECK(detokenizer.push(*tokenizer.find("<|im_end|>")).empty());
  CHECK(detokenizer.push(0xC3).empty());
  CHECK(detokenizer.push(*tokenizer.find("<|im_end|>")).empty());
  CHECK(detokenizer.push(0xA9) == "\xC3\xA9");
  CHECK(detokenizer.push(*tokenizer.find("<tool>")) == "<tool>");
}

TEST_CASE("ill-formed bytes become one U+FFFD for each largest part") {
  const text::Tokenizer tokenizer(small_vocabulary());
  CHECK(all(tokenizer, "\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") == replacements(8) + "A");
  CHECK(all(tokenizer, "\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41") == replacements(8) + "A");
  CHECK(all(tokenizer, "\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42") ==
        replacements(5) + "A" + replacements(2) + "B");
  CHECK(all(tokenizer, "\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") == replacements(4) + "A");
}

TEST_CASE("what is held back at the end becomes one U+FFFD") {
  const text::Tokenizer tokenizer(small_vocabulary());
  text::Detokenizer detokenizer(tokenizer);
  CHECK(detokenizer.push(0xF0).empty());
  CHECK(detokenizer.push(0x9F).empty());
  CHECK(detokenizer.finish() == files::kReplacement);
  CHECK(detokenizer.finish().empty());
}
