// SPDX-License-Identifier: Apache-2.0
// Full pages of committed tokens, kept for later sequences that begin alike. A trie: a page is
// found by the page before it and its own 16 tokens, compared in full, so no two texts are mistaken
// for each other. It holds each of its pages like a cache does; those that nobody else holds are
// given up, the least recently used first, when the pool runs short.
#pragma once
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "kv/cache.hpp"
#include "kv/reclaimer.hpp"
#include "redline/types.hpp"

namespace redline::kv {

class PrefixCache final : public Reclaimer {
 public:
  explicit PrefixCache(PagePool& pool);  // the pool outlives it, and reclaims from it
  ~PrefixCache() override;
  PrefixCache(const PrefixCache&) = delete;  // the pool holds its address

  // Gives an empty cache the pages of the longest known prefix, as committed tokens. At most
  // floor((tokens - 1) / 16) pages: the last token is always computed, for its logits. Returns the
  // tokens restored: a request's cached_tokens.
  std::int32_t restore(Cache& empty, std::span<const Token> tokens);
  // Adds the full pages of the cache's committed tokens, the first of `tokens`; to be called after
  // a commit, and cheap when it filled no page. A page of equal text that is here already stays.
  void publish(Cache& cache, std::span<const Token> tokens);
  void clear();  // forgets all; caches keep what they hold

  std::int64_t pages() const { return std::ssize(by_text_); }
  std::int64_t hits() const { return hits_; }        // pages restored
  std::int64_t evicted() const { return evicted_; }  // pages given up for want of free ones

  std::int32_t reclaimable() const override { return static_cast<std::int32_t>(idle_.size()); }
  void reclaim(std::int32_t pages) override;

 private:
  static constexpr PageId kRoot = -1;
  struct Text {
    PageId parent;  // the page before, or kRoot
    std::array<Token, kPageTokens> tokens;
    auto operator<=>(const Text&) const = default;
  };
  using Pages = std::map<Text, PageId>;
  struct Node {
    Pages::iterator text;
    std::list<PageId>::iterator place;  // in idle_ or in_use_
    std::int32_t uses = 0;              // children in use, and one if a cache holds the page
  };
  static Text text_of(PageId parent, std::span<const Token> tokens, std::int32_t page);
  void add(const Text& text, PageId page);
  void sharing_changed(PageId page, bool shared) noexcept override;

  PagePool& pool_;
  Pages by_text_;
  std::vector<std::optional<Node>> nodes_;  // [page of the pool]
  // idle_ is in the order in which pages fell out of use. A page is in use as long as one after it
  // is, so those after it come first: the front has none.
  std::list<PageId> idle_, in_use_;
  std::int64_t hits_ = 0, evicted_ = 0;
};

}  // namespace redline::kv
