// SPDX-License-Identifier: Apache-2.0
// A draft speaks in ids, so ids must mean the same bytes to both. Merges and pre-tokenizers do not
// matter: only the target's tokenizer ever reads text.
#include "text/vocabulary.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <unordered_set>

#include "files/utf8.hpp"

namespace redline::text {
namespace {

using Pieces = std::unordered_set<std::string_view>;

Pieces pieces_of(const Tokenizer& tokenizer) {
  Pieces pieces;
  for (Token token = 0; token < tokenizer.vocab(); ++token)
    if (!tokenizer.is_padding(token)) pieces.insert(tokenizer.bytes(token));
  return pieces;
}

bool same(const Tokenizer& target, const Tokenizer& draft, Token token) {
  const bool both_padding = target.is_padding(token) && draft.is_padding(token);
  return both_padding || target.bytes(token) == draft.bytes(token);
}

// The first id that is not the same piece to both; ids past the shorter vocabulary count as the
// same while they are padding.
Token first_difference(const Tokenizer& target, const Tokenizer& draft) {
  const Token common = std::min(target.vocab(), draft.vocab());
  for (Token token = 0; token < common; ++token)
    if (!same(target, draft, token)) return token;
  const Tokenizer& longer = target.vocab() > common ? target : draft;
  for (Token token = common; token < longer.vocab(); ++token)
    if (!longer.is_padding(token)) return token;
  return -1;
}

std::string text_at(const Tokenizer& tokenizer, Token token) {
  return token < tokenizer.vocab() ? files::printable(tokenizer.bytes(token)) : "nothing";
}

}  // namespace

VocabularyMatch compare(const Tokenizer& target, const Tokenizer& draft) {
  VocabularyMatch match;
  match.target_vocab = target.vocab();
  match.draft_vocab = draft.vocab();
  match.first_difference = first_difference(target, draft);
  if (match.first_difference < 0) {
    const bool equal_length = target.vocab() == draft.vocab();
    match.overlap = equal_length ? Overlap::IDENTICAL : Overlap::PADDED_TAIL;
    return match;
  }
  match.target_text = text_at(target, match.first_difference);
  match.draft_text = text_at(draft, match.first_difference);
  const Pieces of_target = pieces_of(target), of_draft = pieces_of(draft);
  const auto shared =
      std::count_if(of_target.begin(), of_target.end(),
                    [&](std::string_view piece) { return of_draft.contains(piece); });
  match.shared = static_cast<double>(shared) / static_cast<double>(of_target.size());
  match.overlap = of_target == of_draft ? Overlap::SAME_PIECES_OTHER_IDS : Overlap::DIFFERENT;
  return match;
}

std::string VocabularyMatch::explain() const {
  std::ostringstream out;
  if (overlap == Overlap::IDENTICAL) {
    out << "target and draft have the same vocabulary of " << target_vocab << " tokens";
    return out.str();
  }
  if (overlap == Overlap::PADDED_TAIL) {
    out << "target and draft have the same vocabulary up to padding: " << target_vocab << " and "
        << draft_vocab << " ids";
    return out.str();
  }
  const bool same_pieces = overlap == Overlap::SAME_PIECES_OTHER_IDS;
  out << "the draft's vocabulary is not the target's"
      << (same_pieces ? ": the same pieces under other ids" : "") << "; the first difference is id "
      << first_difference << ", " << target_text << " to the target and " << draft_text
      << " to the draft (" << target_vocab << " and " << draft_vocab << " ids; the draft has "
      << std::fixed << std::setprecision(1) << 100 * shared << " % of the target's pieces). "
      << "A draft must read the target's ids: take one of the target's own family, "
      << "or draft without a model (draft_ngram)";
  return out.str();
}

}  // namespace redline::text
