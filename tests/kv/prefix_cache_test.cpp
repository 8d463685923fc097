// SPDX-License-Identifier: Apache-2.0
#include "kv/prefix_cache.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "redline/error.hpp"
#include "text.hpp"

using namespace redline;
using kv::Cache;
using kv::feed;
using kv::holds;
using kv::joined;
using kv::Lease;
using kv::PagePool;
using kv::PrefixCache;
using kv::Tokens;
using kv::tokens_from;

namespace {

// Computes a text in a cache of its own, publishes it and ends.
void run(PagePool& pool, PrefixCache& prefixes, const Tokens& text) {
  Cache cache(pool);
  REQUIRE(feed(cache, text));
  prefixes.publish(cache, text);
}

std::int32_t restored(PagePool& pool, PrefixCache& prefixes, const Tokens& text) {
  Cache cache(pool);
  const auto tokens = prefixes.restore(cache, text);
  CHECK(holds(cache, Tokens(text.begin(), text.begin() + tokens)));
  return tokens;
}

}  // namespace

TEST_CASE("cached_tokens: whole pages before the last token of the prompt, which is computed") {
  PagePool pool(kv::kIdentityShape, 8, true);
  PrefixCache prefixes(pool);
  for (const auto& [size, cached] : std::vector<std::pair<int, int>>{
           {8, 0}, {15, 0}, {16, 0}, {17, 16}, {32, 16}, {33, 32}, {40, 32}}) {
    const Tokens prompt = tokens_from(1000 * size, size);
    CHECK(restored(pool, prefixes, prompt) == 0);
    run(pool, prefixes, prompt);
    CHECK(restored(pool, prefixes, prompt) == cached);
    prefixes.clear();
  }
  CHECK(restored(pool, prefixes, {}) == 0);
  CHECK(pool.available() == 8);
}

TEST_CASE("The longest known prefix is restored, and no other text") {
  PagePool pool(kv::kIdentityShape, 16, true);
  PrefixCache prefixes(pool);
  const Tokens a = tokens_from(0, 16), b = tokens_from(100, 16), c = tokens_from(200, 16);
  run(pool, prefixes, joined(joined(a, b), c));
  CHECK(prefixes.pages() == 3);
  CHECK(restored(pool, prefixes, joined(joined(joined(a, b), c), {7})) == 48);
  CHECK(restored(pool, prefixes, joined(joined(a, b), {7})) == 32);
  CHECK(restored(pool, prefixes, joined(joined(a, c), {7})) == 16);  // c only after a, b
  CHECK(restored(pool, prefixes, joined(joined(b, c), {7})) == 0);
  Tokens almost = a;
  almost[15] = 99;
  CHECK(restored(pool, prefixes, joined(joined(almost, b), {7})) == 0);
  CHECK(prefixes.hits() == 3 + 2 + 1);
}

TEST_CASE("Caches that share a prefix return the free count exactly, in whatever order they end") {
  for (const int first_to_end : {0, 1, 2}) {
    PagePool pool(kv::kIdentityShape, 12, true);
    const Tokens prefix = tokens_from(0, 32);
    {
      PrefixCache prefixes(pool);
      std::vector<std::unique_ptr<Cache>> caches;
      std::vector<Tokens> texts;
      for (int i = 0; i < 3; ++i) {
        texts.push_back(joined(prefix, tokens_from(1000 + 100 * i, 10)));
        caches.push_back(std::make_unique<Cache>(pool));
        CHECK(prefixes.restore(*caches[i], texts[i]) == (i == 0 ? 0 : 32));
        REQUIRE(feed(*caches[i], texts[i]));
        prefixes.publish(*caches[i], texts[i]);
      }
      CHECK(pool.available() == 12 - 2 - 3);  // the prefix once, and a page of each
      CHECK(prefixes.reclaimable() == 0);
      for (int i = 0; i < 3; ++i) {
        CHECK(pool.available() == 12 - 2 - 3 + i);
        caches[(first_to_end + i) % 3].reset();
        for (int k = 0; k < 3; ++k) CHECK((!caches[k] || holds(*caches[k], texts[k])));
      }
      CHECK(pool.available() == 10);
      CHECK(pool.obtainable() == 12);
    }
    CHECK(pool.available() == 12);
    CHECK(pool.guards_intact());
  }
}

TEST_CASE("A page is published only after the pass that filled it") {
  PagePool pool(kv::kIdentityShape, 12, true);
  PrefixCache prefixes(pool);
  const Tokens prompt = tokens_from(0, 40);
  Cache first(pool), second(pool);  // equal prompts admitted in one step
  CHECK(prefixes.restore(first, prompt) == 0);
  auto lease = Lease::reserve(first, 40);
  REQUIRE(lease);
  prefixes.publish(first, prompt);  // nothing of it is committed
  CHECK(prefixes.pages() == 0);
  CHECK(prefixes.restore(second, prompt) == 0);
  lease.reset();  // the pass failed
  prefixes.publish(first, prompt);
  CHECK(prefixes.pages() == 0);
  for (Cache* cache : {&first, &second}) {
    REQUIRE(feed(*cache, prompt));
    prefixes.publish(*cache, prompt);
    CHECK(holds(*cache, prompt));
  }
  CHECK(prefixes.pages() == 2);  // the second's equal pages stay its own
}

TEST_CASE("A prefix holds committed tokens only: nothing of a rejected draft is restored") {
  PagePool pool(kv::kIdentityShape, 12, true);
  PrefixCache prefixes(pool);
  const Tokens text = tokens_from(0, 14);
  Cache cache(pool);
  REQUIRE(feed(cache, text));
  const Tokens drafted = joined(text, tokens_from(500, 24));
  auto lease = Lease::reserve(cache, 24);
  REQUIRE(lease);
  const auto drafts = kv::identities(drafted);
  for (std::int32_t slot = 14; slot < 38; ++slot)
    kv::SlotIdentity::write(cache, slot, drafts[slot]);
  prefixes.publish(cache, drafted);
  CHECK(prefixes.pages() == 0);
  lease->commit({});
  prefixes.publish(cache, drafted);
  CHECK(prefixes.pages() == 0);
  CHECK(restored(pool, prefixes, drafted) == 0);
  const Tokens longer = joined(text, tokens_from(900, 6));
  REQUIRE(feed(cache, longer));
  prefixes.publish(cache, longer);
  CHECK(restored(pool, prefixes, longer) == 16);
  CHECK(restored(pool, prefixes, drafted) == 0);
}

TEST_CASE("The page least recently used goes first, and never before those after it") {
  PagePool pool(kv::kIdentityShape, 6, true);
  PrefixCache prefixes(pool);
  const Tokens a = tokens_from(0, 32), b = tokens_from(100, 16), c = tokens_from(200, 32);
  run(pool, prefixes, a);
  run(pool, prefixes, b);
  run(pool, prefixes, c);
  CHECK(restored(pool, prefixes, joined(a, {7})) == 32);  // used again: b is the oldest now
  CHECK(pool.available() == 1);
  std::vector<kv::PageId> taken;
  REQUIRE(pool.take(2, taken));
  CHECK(prefixes.evicted() == 1);
  CHECK(restored(pool, prefixes, joined(b, {7})) == 0);
  REQUIRE(pool.take(1, taken));
  CHECK(restored(pool, prefixes, joined(c, {7})) == 16);  // its second page went, not its first
  REQUIRE(pool.take(1, taken));
  CHECK(restored(pool, prefixes, joined(a, {7})) == 16);
  REQUIRE(pool.take(1, taken));
  CHECK(restored(pool, prefixes, joined(c, {7})) == 0);
  CHECK(restored(pool, prefixes, joined(a, {7})) == 16);
  REQUIRE(pool.take(1, taken));
  CHECK(prefixes.pages() == 0);
  CHECK(prefixes.evicted() == 5);
  CHECK_FALSE(pool.take(1, taken));
  for (const auto page : taken) pool.give_back(page);
}

TEST_CASE("A lease reclaims idle prefixes under pressure, and pages in use are never taken") {
  PagePool pool(kv::kIdentityShape, 6, true);
  PrefixCache prefixes(pool);
  const Tokens used = tokens_from(0, 32), idle = tokens_from(100, 48);
  Cache user(pool);
  run(pool, prefixes, used);
  prefixes.restore(user, joined(used, {7}));
  run(pool, prefixes, idle);
  CHECK(pool.available() == 1);
  CHECK(pool.obtainable() == 4);
  Cache cache(pool);
  CHECK_FALSE(Lease::reserve(cache, 16 * 5));
  CHECK(prefixes.evicted() == 0);  // what cannot be had costs nothing
  const Tokens text = tokens_from(300, 16 * 4);
  CHECK(feed(cache, text));
  CHECK(prefixes.evicted() == 3);
  CHECK(pool.obtainable() == 0);
  CHECK(holds(user, used));
  CHECK(holds(cache, text));
  CHECK(pool.guards_intact());
}

TEST_CASE("A page stays while one after it is used by a cache that has its own copy of the first") {
  PagePool pool(kv::kIdentityShape, 6, true);
  PrefixCache prefixes(pool);
  const Tokens a = tokens_from(0, 16), both = tokens_from(0, 32);
  Cache twin(pool);
  REQUIRE(feed(twin, a));
  run(pool, prefixes, a);
  REQUIRE(feed(twin, both));
  prefixes.publish(twin, both);  // its second page, after the other's first
  CHECK(prefixes.pages() == 2);
  CHECK(prefixes.reclaimable() == 0);
  CHECK(pool.available() == 3);
  CHECK_FALSE(Lease::reserve(twin, 16 * 4));
  CHECK(restored(pool, prefixes, joined(both, {7})) == 32);
  twin.clear();
  CHECK(prefixes.reclaimable() == 2);
}

TEST_CASE("Clearing forgets every prefix and takes no page from a cache") {
  PagePool pool(kv::kIdentityShape, 8, true);
  PrefixCache prefixes(pool);
  const Tokens text = tokens_from(0, 33);
  run(pool, prefixes, text);
  Cache one(pool), two(pool);
  prefixes.restore(one, text);
  prefixes.restore(two, text);
  prefixes.clear();
  CHECK(prefixes.pages() == 0);
  CHECK(restored(pool, prefixes, text) == 0);
  const Tokens longer = joined(text, tokens_from(50, 15));
  REQUIRE(feed(one, longer));
  prefixes.publish(one, longer);  // pages that two caches hold already
  CHECK(prefixes.reclaimable() == 0);
  one.clear();
  CHECK(prefixes.reclaimable() == 1);
  CHECK(holds(two, tokens_from(0, 32)));
  two.clear();
  CHECK(pool.obtainable() == 8);
}

TEST_CASE("A pool that outlives its prefix cache has all pages, and takes another") {
  PagePool pool(kv::kIdentityShape, 2, true);
  for (int i = 0; i < 3; ++i) {
    PrefixCache prefixes(pool);
    run(pool, prefixes, tokens_from(0, 32));
    CHECK(pool.available() == 0);
  }
  Cache cache(pool);
  CHECK_FALSE(Lease::reserve(cache, 33));
  CHECK(pool.obtainable() == 2);
}

TEST_CASE("A prefix cache refuses other pools, used caches and texts that are not the cache's") {
  PagePool pool(kv::kIdentityShape, 8, true), other(kv::kIdentityShape, 8);
  PrefixCache prefixes(pool);
  CHECK_THROWS_AS(PrefixCache(pool), Error);  // a pool reclaims from one
  const Tokens text = tokens_from(0, 40);
  Cache cache(pool), stranger(other);
  CHECK_THROWS_AS(prefixes.restore(stranger, text), Error);
  CHECK_THROWS_AS(prefixes.publish(stranger, text), Error);
  REQUIRE(feed(cache, text));
  CHECK_THROWS_AS(prefixes.restore(cache, text), Error);
  CHECK_THROWS_AS(prefixes.publish(cache, tokens_from(0, 31)), Error);
  prefixes.publish(cache, text);
  cache.truncate(33);
  REQUIRE(feed(cache, joined(tokens_from(0, 33), tokens_from(90, 15))));
  CHECK_THROWS_AS(prefixes.publish(cache, tokens_from(1, 48)), Error);
}
