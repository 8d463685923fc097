// SPDX-License-Identifier: Apache-2.0
// May this draft speak to this target? Compared token by token, never by size or sample text.
#pragma once
#include <cstdint>
#include <string>

#include "text/tokenizer.hpp"

namespace redline::text {

enum class Overlap { IDENTICAL, PADDED_TAIL, SAME_PIECES_OTHER_IDS, DIFFERENT };

struct VocabularyMatch {
  Overlap overlap;
  Token first_difference = -1;          // id, -1 when none
  std::string target_text, draft_text;  // at that id, escaped for print
  double shared = 1;                    // part of the target's pieces the draft has
  std::int32_t target_vocab = 0, draft_vocab = 0;
  bool usable() const { return overlap == Overlap::IDENTICAL || overlap == Overlap::PADDED_TAIL; }
  std::string explain() const;  // what, the two facts, the remedy
};

VocabularyMatch compare(const Tokenizer& target, const Tokenizer& draft);

}  // namespace redline::text
