// SPDX-License-Identifier: Apache-2.0
// Stands in for a forward: a slot's identity is a function of the whole text up to its token, as KV
// is, so a page of another prefix shows even where its own tokens are the same.
#pragma once
#include <numeric>
#include <vector>

#include "kv/lease.hpp"
#include "redline/types.hpp"
#include "slot_identity.hpp"

namespace redline::kv {

using Tokens = std::vector<Token>;

// [from, from + count)
inline Tokens tokens_from(Token from, std::int32_t count) {
  Tokens tokens(count);
  std::iota(tokens.begin(), tokens.end(), from);
  return tokens;
}

inline Tokens joined(Tokens text, const Tokens& more) {
  text.insert(text.end(), more.begin(), more.end());
  return text;
}

inline std::uint64_t identity_after(std::uint64_t before, Token token) {
  return ((before ^ static_cast<std::uint64_t>(token + 1)) * 0x9E3779B97F4A7C15U) >> 8;
}

inline std::vector<std::uint64_t> identities(const Tokens& text) {
  std::vector<std::uint64_t> all;
  std::uint64_t at = 1;
  for (const Token token : text) all.push_back(at = identity_after(at, token));
  return all;
}

// Computes and commits what the cache lacks of the text; false when pages run out.
inline bool feed(Cache& cache, const Tokens& text) {
  const auto rows = static_cast<std::int32_t>(text.size()) - cache.tokens();
  auto lease = Lease::reserve(cache, rows);
  if (!lease) return false;
  const auto all = identities(text);
  std::vector<std::int32_t> kept(rows);
  std::iota(kept.begin(), kept.end(), cache.tokens());
  for (const auto slot : kept) SlotIdentity::write(cache, slot, all[slot]);
  lease->commit(kept);
  return true;
}

// The table's committed tokens are the KV of exactly this text.
inline bool holds(const PageTable& table, const Tokens& text) {
  if (table.tokens() != std::ssize(text)) return false;
  const auto all = identities(text);
  for (std::int32_t slot = 0; slot < table.tokens(); ++slot)
    if (SlotIdentity::read(table, slot) != all[slot]) return false;
  return true;
}

}  // namespace redline::kv
