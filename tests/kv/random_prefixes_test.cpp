// SPDX-License-Identifier: Apache-2.0
// 1e5 random steps of several sequences that begin alike, over a prefix cache under pressure,
// against a model that is the text of each.
#include <rapidcheck.h>

#include <array>
#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "kv/prefix_cache.hpp"
#include "text.hpp"

using namespace redline;
using namespace redline::kv;

namespace {

constexpr int kLanes = 5, kPages = 20, kOperations = 1000, kRuns = 100, kLongest = 120;

class World {
 public:
  World() {
    for (Lane& lane : lanes_) lane.cache.emplace(pool_);
  }

  void apply(std::uint64_t operation) {
    Lane& lane = lanes_[operation % kLanes];
    const auto amount = static_cast<std::int32_t>((operation >> 8) % 40);
    random_ = operation >> 24;
    switch ((operation >> 16) % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return reserve(lane, amount);
      case 5:
      case 6:
      case 7:
      case 8:
        return commit(lane, amount);
      case 9:
        return roll_back(lane);
      case 10:
        return truncate(lane);
      case 11:
      case 12:
      case 13:
        return restart(lane, lanes_[random_ % kLanes]);
      case 14:
        return amount < 2 ? forget() : end(lane);
      default:
        return take_all(amount);
    }
  }

  void check() const {
    std::array<std::int32_t, kPages> holders{};
    for (const Lane& lane : lanes_) {
      RC_ASSERT(holds(*lane.cache, lane.text));
      const auto ids = lane.cache->page_ids();
      const auto slots = lane.text.size() + lane.rows.size();
      RC_ASSERT(ids.size() == (slots + kPageTokens - 1) / kPageTokens);
      for (const PageId id : ids) ++holders[id];
      if (lane.rows.empty()) continue;  // what a step writes into is its own
      for (std::size_t i = lane.text.size() / kPageTokens; i < ids.size(); ++i)
        RC_ASSERT(pool_.holders(ids[i]) == 1);
    }
    std::int32_t in_use = 0, free = 0;
    std::int64_t published = 0;
    for (PageId id = 0; id < kPages; ++id) {
      const std::int32_t others = pool_.holders(id) - holders[id];  // the prefix cache or nobody
      RC_ASSERT((others == 0 || others == 1));
      published += others;
      free += pool_.holders(id) == 0;
      in_use += holders[id] > 0;
    }
    RC_ASSERT(published == prefixes_.pages());
    RC_ASSERT(free == pool_.available());
    RC_ASSERT(pool_.obtainable() <= kPages - in_use);
  }
  void check_guards() const { RC_ASSERT(pool_.guards_intact()); }
  void end() {
    for (Lane& lane : lanes_) end(lane);
    RC_ASSERT(pool_.obtainable() == kPages);
    prefixes_.clear();
    RC_ASSERT(pool_.available() == kPages);
    check_guards();
  }
  std::int64_t restored_pages() const { return prefixes_.hits(); }
  std::int64_t evicted_pages() const { return prefixes_.evicted(); }

 private:
  struct Lane {
    std::optional<Cache> cache;
    std::optional<Lease> lease;              // declared after the cache: ends before it
    Tokens text;                             // committed
    std::vector<std::optional<Token>> rows;  // of the lease: the path's tokens; nothing: rejected
    std::int64_t evicted = -1;  // count when all its pages were last published; -1: not so since
  };

  // Few texts, so that they meet again: a token depends on its position and, where a page begins
  // and sometimes within, on chance.
  Token next_token(const Tokens& text) {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    const bool may_branch = text.size() % kPageTokens == 0 || (random_ >> 58) == 0;
    const Token branch = may_branch ? static_cast<Token>(random_ >> 40 & 3) : text.back() & 3;
    return static_cast<Token>(text.size()) * 4 + branch;
  }

  void reserve(Lane& lane, std::int32_t rows) {
    if (lane.lease || lane.text.size() + rows > kLongest) return;
    const auto obtainable = pool_.obtainable();
    auto lease = Lease::reserve(*lane.cache, rows);
    if (!lease) {
      RC_ASSERT(pool_.obtainable() == obtainable);
      return;
    }
    lane.lease.emplace(std::move(*lease));
    Tokens path = lane.text;
    auto identity = path.empty() ? std::uint64_t{1} : identities(path).back();
    for (std::int32_t row = 0; row < rows; ++row) {
      const bool on_path = (random_ >> (row % 40) & 3) != 0;
      lane.rows.push_back(on_path ? std::optional(next_token(path)) : std::nullopt);
      if (on_path) path.push_back(*lane.rows.back());
      if (on_path) identity = identity_after(identity, path.back());
      SlotIdentity::write(*lane.cache, lane.cache->tokens() + row, on_path ? identity : 3);
    }
  }
  void commit(Lane& lane, std::int32_t most) {
    if (!lane.lease) return;
    const auto full_before = full_pages(lane);
    std::vector<std::int32_t> kept;
    for (std::size_t row = 0; row < lane.rows.size() && std::ssize(kept) < most; ++row) {
      if (!lane.rows[row]) continue;
      kept.push_back(lane.cache->tokens() + static_cast<std::int32_t>(row));
      lane.text.push_back(*lane.rows[row]);
    }
    lane.lease->commit(kept);
    roll_back(lane);
    prefixes_.publish(*lane.cache, lane.text);
    if (full_pages(lane) > full_before) lane.evicted = prefixes_.evicted();
  }
  void roll_back(Lane& lane) { lane.lease.reset(), lane.rows.clear(); }
  void truncate(Lane& lane) {
    if (lane.lease) return;
    lane.text.resize(random_ % (lane.text.size() + 1));
    lane.cache->truncate(static_cast<std::int32_t>(lane.text.size()));
    lane.evicted = -1;
  }
  void end(Lane& lane) {
    roll_back(lane);
    lane.text.clear();
    lane.cache.emplace(pool_);
  }
  // A new sequence that begins like another one, or like that one's past.
  void restart(Lane& lane, const Lane& like) {
    if (&lane == &like) return;
    end(lane);
    Tokens prompt = like.text;
    const bool is_whole = (random_ >> 20 & 1) != 0;
    if (!is_whole) prompt.resize((random_ >> 8) % (prompt.size() + 1));
    for (int i = 0; i < 20; ++i) prompt.push_back(next_token(prompt));
    const auto tokens = prefixes_.restore(*lane.cache, prompt);
    RC_ASSERT(tokens % kPageTokens == 0);
    RC_ASSERT(tokens < std::ssize(prompt));
    if (is_whole && like.evicted == prefixes_.evicted())
      RC_ASSERT(tokens >= full_pages(like) * kPageTokens);
    lane.text.assign(prompt.begin(), prompt.begin() + tokens);
    lane.evicted = -1;
  }
  static std::int64_t full_pages(const Lane& lane) { return std::ssize(lane.text) / kPageTokens; }
  void forget() {
    prefixes_.clear();
    for (Lane& lane : lanes_) lane.evicted = -1;
  }
  // Every obtainable page can be had, but for a few that stay free.
  void take_all(std::int32_t but) {
    std::vector<PageId> taken;
    RC_ASSERT_FALSE(pool_.take(pool_.obtainable() + 1, taken));
    RC_ASSERT(pool_.take(std::max(pool_.obtainable() - but, 0), taken));
    for (const PageId page : taken) pool_.give_back(page);
  }

  PagePool pool_{kIdentityShape, kPages, true};
  PrefixCache prefixes_{pool_};
  std::array<Lane, kLanes> lanes_;
  std::uint64_t random_ = 0;
};

}  // namespace

TEST_CASE("Shared pages keep their text and none leaks in 1e5 random steps with a prefix cache") {
  const auto any =
      rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, ~std::uint64_t{0}));
  int runs = 0;
  std::int64_t restored = 0, evicted = 0;
  const bool all_hold = rc::check("every step keeps the text of every sequence", [&] {
    const auto operations = *rc::gen::container<std::vector<std::uint64_t>>(kOperations, any);
    ++runs;
    World world;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      world.apply(operations[i]);
      world.check();
      if (i % 32 == 0) world.check_guards();
    }
    restored += world.restored_pages();
    evicted += world.evicted_pages();
    world.end();
  });
  CHECK(all_hold);
  CHECK(runs >= kRuns);
  CHECK(restored > kRuns);
  CHECK(evicted > kRuns);
}
