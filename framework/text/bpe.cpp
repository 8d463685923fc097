// SPDX-License-Identifier: Apache-2.0
#include "text/bpe.hpp"

#include <queue>

#include "files/utf8.hpp"
#include "redline/error.hpp"
#include "text/byte_alphabet.hpp"

namespace redline::text {
namespace {

constexpr std::int32_t kEnd = -1;

std::uint64_t key(Token left, Token right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

struct Symbol {  // one piece of the word, in a list of those still apart
  Token token;
  std::int32_t previous, next;  // index, or kEnd
};

struct Candidate {
  std::int32_t rank, left;  // `left` and its next may merge
  Token token;
  bool operator<(const Candidate& other) const {  // std::priority_queue serves the largest first
    return rank != other.rank ? rank > other.rank : left > other.left;
  }
};

}  // namespace

Bpe::Bpe(const std::unordered_map<std::string_view, Token>& ids,
         std::span<const std::string> merges) {
  for (int byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    const auto found = ids.find({&text, 1});
    byte_tokens_[static_cast<std::size_t>(byte)] = found == ids.end() ? -1 : found->second;
    if (found == ids.end()) missing_bytes_ += text;
  }
  const auto token_of = [&](std::string_view piece, std::string_view merge) {
    const auto bytes = bytes_of(piece);
    const auto found = bytes ? ids.find(*bytes) : ids.end();
    if (found == ids.end())
      throw InputError("the merge " + files::printable(merge) + " speaks of " +
                       files::printable(piece) + ", which is no token; convert the model again");
    return found->second;
  };
  merges_.reserve(merges.size());
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view merge = merges[rank];
    const std::size_t gap = std::min(merge.find(' ', 1), merge.size());
    const std::string_view left = merge.substr(0, gap);
    const std::string_view right = merge.substr(std::min(gap + 1, merge.size()));
    const Token whole = token_of(std::string(left).append(right), merge);
    merges_[key(token_of(left, merge), token_of(right, merge))] = {static_cast<std::int32_t>(rank),
                                                                   whole};
  }
}

const Bpe::Merge* Bpe::find(Token left, Token right) const {
  const auto found = merges_.find(key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void Bpe::encode(std::string_view word, std::vector<Token>& out) const {
  std::vector<Symbol> symbols;
  symbols.reserve(word.size());
  for (const char byte : word) {
    const Token token = byte_tokens_[static_cast<std::uint8_t>(byte)];
    const auto index = static_cast<std::int32_t>(symbols.size());
    if (token >= 0) symbols.push_back({token, index - 1, index + 1});
  }
  if (symbols.empty()) return;
  symbols.back().next = kEnd;

  std::priority_queue<Candidate> candidates;
  const auto at = [&](std::int32_t index) -> Symbol& {
    return symbols[static_cast<std::size_t>(index)];
  };
  const auto offer = [&](std::int32_t left) {
    if (left == kEnd || at(left).next == kEnd) return;
    if (const Merge* merge = find(at(left).token, at(at(left).next).token))
      candidates.push({merge->rank, left, merge->token});
  };
  for (std::int32_t left = 0; left + 1 < static_cast<std::int32_t>(symbols.size()); ++left)
    offer(left);

  while (!candidates.empty()) {
    const Candidate best = candidates.top();
    candidates.pop();
    Symbol& left = at(best.left);
    if (left.token < 0 || left.next == kEnd) continue;
    Symbol& right = at(left.next);
    const Merge* merge = find(left.token, right.token);
    if (merge == nullptr || merge->rank != best.rank) continue;  // one of the two has changed since
    left.token = best.token;
    right.token = -1;  // merged away
    left.next = right.next;
    if (left.next != kEnd) at(left.next).previous = best.left;
    offer(left.previous);
    offer(best.left);
  }
  for (std::int32_t index = 0; index != kEnd; index = at(index).next)
    out.push_back(at(index).token);
}

}  // namespace redline::text
