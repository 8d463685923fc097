// SPDX-License-Identifier: Apache-2.0
#include "kv/prefix_cache.hpp"

#include <algorithm>
#include <string>

#include "redline/error.hpp"

namespace redline::kv {

PrefixCache::PrefixCache(PagePool& pool) : pool_(pool), nodes_(pool.total()) {
  pool.reclaim_from(this);
}

PrefixCache::~PrefixCache() {
  clear();
  pool_.reclaim_from(nullptr);
}

PrefixCache::Text PrefixCache::text_of(PageId parent, std::span<const Token> tokens,
                                       std::int32_t page) {
  Text text{.parent = parent, .tokens = {}};
  std::ranges::copy(tokens.subspan(std::size_t{kPageTokens} * page, kPageTokens),
                    text.tokens.begin());
  return text;
}

std::int32_t PrefixCache::restore(Cache& empty, std::span<const Token> tokens) {
  if (&empty.pool() != &pool_) throw Error("prefix cache: asked to fill a cache of another pool");
  if (!empty.ids_.empty() || empty.leased_)
    throw Error("prefix cache: asked to fill a cache of " + std::to_string(empty.tokens()) +
                " tokens and " + std::to_string(empty.ids_.size()) + " pages, expected none");
  const std::int64_t most = (std::ssize(tokens) - 1) / kPageTokens;
  std::vector<PageId> path;
  while (std::ssize(path) < most) {
    const PageId parent = path.empty() ? kRoot : path.back();
    const auto found = by_text_.find(text_of(parent, tokens, static_cast<int>(path.size())));
    if (found == by_text_.end()) break;
    path.push_back(found->second);
  }
  empty.adopt(path);
  empty.published_ = static_cast<std::int32_t>(path.size());
  hits_ += std::ssize(path);
  return empty.tokens();
}

void PrefixCache::publish(Cache& cache, std::span<const Token> tokens) {
  if (&cache.pool() != &pool_) throw Error("prefix cache: given a cache of another pool");
  const std::int32_t full = cache.tokens() / kPageTokens;
  if (std::ssize(tokens) < std::int64_t{full} * kPageTokens)
    throw Error("prefix cache: " + std::to_string(tokens.size()) +
                " tokens of a cache that holds " + std::to_string(cache.tokens()));
  if (cache.published_ >= full) return;
  PageId parent = kRoot;
  for (std::int32_t i = 0; i < full; ++i) {
    const Text text = text_of(parent, tokens, i);
    const auto found = by_text_.find(text);
    parent = found == by_text_.end() ? cache.ids_[i] : found->second;
    if (found == by_text_.end()) add(text, parent);
  }
  cache.published_ = full;
}

void PrefixCache::add(const Text& text, PageId page) {
  if (nodes_[page])
    throw Error("prefix cache: page " + std::to_string(page) + " is published with other tokens");
  idle_.push_back(page);
  pool_.retain(page);
  nodes_[page] = {by_text_.emplace(text, page).first, std::prev(idle_.end())};
  sharing_changed(page, true);  // the cache that published it holds it too
}

// A page is in use while a cache holds it or one after it: the change climbs until it makes no
// difference.
void PrefixCache::sharing_changed(PageId page, bool shared) noexcept {
  for (PageId at = page; at != kRoot && nodes_[at]; at = nodes_[at]->text->first.parent) {
    Node& node = *nodes_[at];
    node.uses += shared ? 1 : -1;
    if (node.uses != (shared ? 1 : 0)) return;
    auto& from = shared ? idle_ : in_use_;
    auto& to = shared ? in_use_ : idle_;
    to.splice(to.end(), from, node.place);
  }
}

void PrefixCache::reclaim(std::int32_t pages) {
  for (; pages > 0 && !idle_.empty(); --pages, ++evicted_) {
    const PageId page = idle_.front();
    idle_.pop_front();
    by_text_.erase(nodes_[page]->text);
    nodes_[page].reset();
    pool_.give_back(page);
  }
}

void PrefixCache::clear() {
  for (const auto& [text, page] : by_text_) {
    nodes_[page].reset();
    pool_.give_back(page);
  }
  by_text_.clear();
  idle_.clear();
  in_use_.clear();
}

}  // namespace redline::kv
