// SPDX-License-Identifier: Apache-2.0
#include "text/vocabulary.hpp"

#include <catch2/catch.hpp>

#include "text/models_here.hpp"
#include "text/small_vocabulary.hpp"

using namespace redline;
using namespace redline::tests;
using Catch::Contains;
using text::Overlap;

namespace {

text::VocabularyMatch compared(const SmallVocabulary& target, const SmallVocabulary& draft) {
  return text::compare(text::Tokenizer(target.file()), text::Tokenizer(draft.file()));
}

}  // namespace

TEST_CASE("a vocabulary is identical to itself, whatever its merges") {
  SmallVocabulary target, draft("smollm");
  draft.merges.pop_back();
  const auto match = compared(target, draft);
  CHECK(match.overlap == Overlap::IDENTICAL);
  CHECK(match.usable());
  CHECK(match.first_difference == -1);
}

TEST_CASE("a tail of padding is no difference, a tail of pieces is one") {
  SmallVocabulary target, draft;
  draft.add("[PAD273]", 5);
  CHECK(compared(target, draft).overlap == Overlap::PADDED_TAIL);
  CHECK(compared(draft, target).usable());
  draft.add("real");
  const auto match = compared(target, draft);
  CHECK(match.overlap == Overlap::DIFFERENT);
  CHECK_FALSE(match.usable());
  CHECK(match.first_difference == 274);
  CHECK_THAT(match.explain(), Contains("id 274, nothing to the target and 'real' to the draft"));
}

TEST_CASE("one altered token is named with both texts, the counts and the remedy") {
  SmallVocabulary target, draft;
  draft.tokens[264] = "zz";
  draft.merges.erase(draft.merges.begin() + 8);
  const auto match = compared(target, draft);
  CHECK(match.overlap == Overlap::DIFFERENT);
  CHECK(match.first_difference == 264);
  CHECK_THAT(match.explain(), Contains("id 264, '\\'s' to the target and 'zz' to the draft"));
  CHECK_THAT(match.explain(), Contains("273 and 273 ids") && Contains("99.6 %"));
  CHECK_THAT(match.explain(), Contains("own family"));
}

TEST_CASE("the same pieces under other ids are told from other pieces") {
  SmallVocabulary target, draft;
  std::swap(draft.tokens['a'], draft.tokens['b']);
  const auto match = compared(target, draft);
  CHECK(match.overlap == Overlap::SAME_PIECES_OTHER_IDS);
  CHECK_FALSE(match.usable());
  CHECK(match.first_difference == 'a');
  CHECK(match.shared == 1.0);
  CHECK_THAT(match.explain(), Contains("the same pieces under other ids"));
}

TEST_CASE("the real pair is of one vocabulary, and SmolLM2 is of another") {
  const auto target = model_here(kQwen), draft = model_here(kQwenHalf),
             other = model_here(kSmolLm2);
  if (target && draft)
    CHECK(text::compare(text::Tokenizer(*target), text::Tokenizer(*draft)).overlap ==
          Overlap::IDENTICAL);
  if (draft && other) {
    const auto match = text::compare(text::Tokenizer(*draft), text::Tokenizer(*other));
    CHECK(match.overlap == Overlap::DIFFERENT);
    CHECK(match.first_difference == 0);
    CHECK_THAT(match.explain(), Contains("'!' to the target and '<|endoftext|>' to the draft") &&
                                    Contains("151936 and 49152 ids"));
    CHECK(match.shared > 0.1);
    CHECK(match.shared < 0.5);
  }
}
