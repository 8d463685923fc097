// SPDX-License-Identifier: Apache-2.0
// 1e5 random operations on several caches of one pool, against a model that is a list of numbers.
#include <rapidcheck.h>

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "kv/lease.hpp"
#include "slot_identity.hpp"

using namespace redline::kv;

namespace {

constexpr int kCaches = 5, kPages = 24, kOperations = 1000, kRuns = 100;

class World {
 public:
  World() {
    for (Lane& lane : lanes_) lane.cache = std::make_unique<Cache>(pool_);
  }

  void apply(std::uint64_t operation) {
    Lane& lane = lanes_[operation % kCaches];
    const auto amount = static_cast<std::int32_t>((operation >> 8) % 40);
    switch ((operation >> 16) % 8) {
      case 0:
      case 1:
        return reserve(lane, amount);
      case 2:
        return extend(lane, amount);
      case 3:
      case 4:
        return commit(lane, operation >> 24);
      case 5:
        return roll_back(lane);
      case 6:
        return truncate(lane, operation >> 24);
      default:
        return free(lane, amount);
    }
  }

  void check() const {
    std::set<PageId> listed;
    std::size_t count = 0;
    for (const Lane& lane : lanes_) {
      const auto slots = lane.held.size() + lane.tentative.size();
      RC_ASSERT(lane.cache->page_ids().size() == (slots + kPageTokens - 1) / kPageTokens);
      RC_ASSERT(lane.cache->pages().size() == lane.cache->page_ids().size());
      listed.insert(lane.cache->page_ids().begin(), lane.cache->page_ids().end());
      count += lane.cache->page_ids().size();
      RC_ASSERT(lane.cache->tokens() == static_cast<std::int32_t>(lane.held.size()));
      for (std::size_t slot = 0; slot < lane.held.size(); ++slot)
        RC_ASSERT(SlotIdentity::read(*lane.cache, slot) == lane.held[slot]);
    }
    RC_ASSERT(listed.size() == count);  // no page twice
    RC_ASSERT(pool_.available() + static_cast<int>(count) == kPages);
  }
  void check_guards() const { RC_ASSERT(pool_.guards_intact()); }
  void end() {
    for (Lane& lane : lanes_) lane.lease.reset(), lane.cache.reset();
    RC_ASSERT(pool_.available() == kPages);
    check_guards();
  }

 private:
  struct Lane {
    std::unique_ptr<Cache> cache;
    std::optional<Lease> lease;  // declared after the cache: ends before it
    std::vector<std::uint64_t> held, tentative;
  };

  void write(Lane& lane, std::int32_t rows) {
    for (std::int32_t i = 0; i < rows; ++i) {
      lane.tentative.push_back(++last_identity_);
      SlotIdentity::write(*lane.cache, lane.held.size() + lane.tentative.size() - 1,
                          last_identity_);
    }
  }
  void reserve(Lane& lane, std::int32_t rows) {
    if (lane.lease) return;
    const auto free_pages = pool_.available();
    auto lease = Lease::reserve(*lane.cache, rows);
    if (!lease) {
      RC_ASSERT(pool_.available() == free_pages);
      return;
    }
    lane.lease.emplace(std::move(*lease));
    write(lane, rows);
  }
  void extend(Lane& lane, std::int32_t rows) {
    if (lane.lease && lane.lease->extend(rows)) write(lane, rows);
  }
  void commit(Lane& lane, std::uint64_t mask) {
    if (!lane.lease) return;
    std::vector<std::int32_t> kept;
    const auto first = static_cast<std::int32_t>(lane.held.size());
    for (std::size_t i = 0; i < lane.tentative.size(); ++i) {
      if (!(mask >> (i % 40) & 1)) continue;
      kept.push_back(first + static_cast<std::int32_t>(i));
      lane.held.push_back(lane.tentative[i]);
    }
    lane.lease->commit(kept);
    lane.lease.reset(), lane.tentative.clear();
  }
  void roll_back(Lane& lane) { lane.lease.reset(), lane.tentative.clear(); }
  void truncate(Lane& lane, std::uint64_t random) {
    if (lane.lease) return;
    const auto tokens = random % (lane.held.size() + 1);
    lane.cache->truncate(static_cast<std::int32_t>(tokens));
    lane.held.resize(tokens);
  }
  void free(Lane& lane, std::int32_t amount) {
    if (lane.lease) return;
    lane.held.clear();
    if (amount % 2) return lane.cache->clear();
    lane.cache = std::make_unique<Cache>(pool_);
  }

  PagePool pool_{kIdentityShape, kPages, true};
  std::array<Lane, kCaches> lanes_;
  std::uint64_t last_identity_ = 0;
};

}  // namespace

TEST_CASE("No page leaks, moves wrongly or is written outside its lease in 1e5 random operations") {
  const auto any =
      rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, ~std::uint64_t{0}));
  int runs = 0;
  const bool holds = rc::check("every operation keeps pages and contents", [&] {
    const auto operations = *rc::gen::container<std::vector<std::uint64_t>>(kOperations, any);
    ++runs;
    World world;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      world.apply(operations[i]);
      world.check();
      if (i % 32 == 0) world.check_guards();
    }
    world.end();
  });
  CHECK(holds);
  CHECK(runs >= kRuns);
}
