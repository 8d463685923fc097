// SPDX-License-Identifier: Apache-2.0
#include "text/frequencies.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "files/temporary_folder.hpp"
#include "redline/error.hpp"
#include "text/small_vocabulary.hpp"

using namespace redline;
using namespace redline::tests;
using Catch::Contains;

namespace {

text::Frequencies counted(const text::Tokenizer& tokenizer) {
  text::FrequencyCounter counter(tokenizer);
  counter.add("zzz a");
  counter.add("zhello");
  counter.end_text();
  counter.add("b");
  counter.end_text();
  return counter.result();
}

std::string refusal(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
  try {
    text::read_frequencies(path);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no InputError";
}

std::string file_with(const std::string& vocab, const std::string& tokens,
                      const std::string& counts, const std::string& version = "1") {
  return R"({"format": "redline token frequencies", "version": )" + version +
         R"(, "tokenizer_sha256": "ab", "vocab": )" + vocab + R"(, "texts": 1, "tokens": )" +
         tokens + R"(, "counts": )" + counts + "}";
}

}  // namespace

TEST_CASE(
    "tokens are counted, the most frequent first, ties by id, and each text's end with them") {
  const text::Tokenizer tokenizer(SmallVocabulary().file());
  const text::Frequencies f = counted(tokenizer);
  const auto id = [&](std::string_view bytes) { return *tokenizer.find(bytes); };
  CHECK(f.tokenizer_sha256 == tokenizer.sha256());
  CHECK(f.vocab == tokenizer.vocab());
  CHECK(f.texts == 2);
  CHECK(f.tokens == 10);
  CHECK(f.entries[0].token == id("z"));
  CHECK(f.entries[0].count == 4);
  CHECK(f.entries[1].token == *tokenizer.eos());
  CHECK(f.entries[1].count == 2);
  CHECK(f.entries.size() == 6);  // z, end, space, a, b, hello
  CHECK(f.entries[5].token == id("hello"));
  for (std::size_t k = 3; k < 6; ++k) CHECK(f.entries[k].token > f.entries[k - 1].token);
}

TEST_CASE("the best ids rise") {
  const text::Tokenizer tokenizer(SmallVocabulary().file());
  const text::Frequencies f = counted(tokenizer);
  const std::vector<Token> best = f.best(2);
  CHECK(best == std::vector<Token>{*tokenizer.find("z"), *tokenizer.eos()});
  CHECK(f.best(6).size() == 6);
  CHECK(std::ranges::is_sorted(f.best(6)));
}

TEST_CASE("frequencies come back from their file as they were") {
  const TemporaryFolder folder;
  const text::Tokenizer tokenizer(SmallVocabulary().file());
  const text::Frequencies f = counted(tokenizer);
  text::write_frequencies(f, folder / "f.json");
  const text::Frequencies back = text::read_frequencies(folder / "f.json");
  CHECK(back.tokenizer_sha256 == f.tokenizer_sha256);
  CHECK(back.vocab == f.vocab);
  CHECK(back.texts == f.texts);
  CHECK(back.tokens == f.tokens);
  REQUIRE(back.entries.size() == f.entries.size());
  for (std::size_t k = 0; k < f.entries.size(); ++k) {
    CHECK(back.entries[k].token == f.entries[k].token);
    CHECK(back.entries[k].count == f.entries[k].count);
  }
  CHECK_THROWS_AS(text::write_frequencies(f, folder / "none" / "f.json"), DeviceError);
}

TEST_CASE("a file that is no such file, or contradicts itself, is refused with its name") {
  const TemporaryFolder folder;
  const auto path = folder / "f.json";
  const auto says = [&](const std::string& text) { return refusal(path, text); };
  CHECK(says(file_with("5", "3", "[[4, 2], [1, 1]]")) == "no InputError");
  CHECK_THAT(says(file_with("5", "3", "[[5, 2], [1, 1]]")),
             Contains("token 5 in a vocabulary of 5"));
  CHECK_THAT(says(file_with("5", "3", "[[-1, 2], [1, 1]]")), Contains("token -1"));
  CHECK_THAT(says(file_with("5", "3", "[[1, 2], [1, 1]]")), Contains("stands twice"));
  CHECK_THAT(says(file_with("5", "3", "[[1, 1], [2, 2]]")), Contains("do not fall"));
  CHECK_THAT(says(file_with("5", "2", "[[2, 1], [1, 1]]")), Contains("do not fall"));
  CHECK_THAT(says(file_with("5", "4", "[[4, 2], [1, 1]]")), Contains("sum to 3, it names 4"));
  CHECK_THAT(says(file_with("5", "3", "[[4, 2], [1, 1]]", "2")), Contains("version 2"));
  CHECK_THAT(says(file_with("5", "3", "[4, 2]")), Contains("expected format"));
  CHECK_THAT(says("[]"), Contains("expected format") && Contains("redline frequencies MODEL"));
  CHECK_THAT(says(R"({"format": "another"})"), Contains("f.json") && Contains("another format"));
  CHECK_THAT(says("zzz"), Contains("f.json"));
  CHECK_THROWS_AS(text::read_frequencies(folder / "absent.json"), InputError);
}
