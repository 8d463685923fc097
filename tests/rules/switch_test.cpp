// SPDX-License-Identifier: Apache-2.0
// What turning speculation off and on saves and loses, on counts and stored costs.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "length_auto/switch.hpp"

namespace {

struct World {                     // costs in units of a plain step
  double chance;                   // that a drafted token is kept
  double draft = 0.25, row = 0.1;  // a draft forward, one row more to verify
  int depth = 4;
};

struct Tally {
  double ns = 0;
  int tokens = 0, speculated = 0, steps = 0;
  double loss() const { return ns / tokens - 1; }  // against plain decoding
};

// Lets `to` decode so many tokens in that world.
void decode(Switch& to, const World& w, int tokens, std::mt19937& g, Tally& tally) {
  std::uniform_real_distribution<double> uniform;
  for (const int end = tally.tokens + tokens; tally.tokens < end; ++tally.steps) {
    if (!to.is_on()) {
      to.plain_step(1);
      tally.ns += 1, tally.tokens += 1;
      continue;
    }
    int kept = 0;
    while (kept < w.depth && uniform(g) < w.chance) ++kept;
    const double ns = 1 + w.depth * (w.draft + w.row);
    to.speculative_step({kept + 1.0, ns, 1});
    tally.ns += ns, tally.tokens += kept + 1, tally.speculated += 1;
  }
}

constexpr SwitchSettings kDefaults{
    .loss_budget = .02, .half_life_steps = 64, .backoff_tokens = 256, .max_backoff_tokens = 8192};

TEST_CASE("A useless draft and a draft that is the target lose at most 3 % over a cell") {
  for (const World& world : {World{.chance = 0}, World{.chance = .12},
                             World{.chance = 1, .draft = 1}, World{.chance = .3}}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      Switch to(kDefaults);
      std::mt19937 g(seed);
      Tally tally;
      decode(to, world, 3000, g, tally);
      INFO("chance " << world.chance << " seed " << seed);
      CHECK(tally.loss() < .03);
    }
  }
}

TEST_CASE("A draft that pays is never turned off for long") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Switch to(kDefaults);
    std::mt19937 g(seed);
    Tally tally;
    decode(to, {.chance = .8}, 3000, g, tally);
    CHECK(tally.speculated > .95 * tally.steps);
    CHECK(tally.loss() < -.2);
  }
}

TEST_CASE("Off is not for good: speculation is on again after at most the longest wait") {
  SwitchSettings settings = kDefaults;
  settings.max_backoff_tokens = 1024;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Switch to(settings);
    std::mt19937 g(seed);
    Tally poor, good;
    decode(to, {.chance = 0}, 6000, g, poor);
    decode(to, {.chance = .85}, 1024 + 600, g, good);  // the wait, and a probe's few steps
    INFO("seed " << seed);
    CHECK(to.is_on());
    Tally later;
    decode(to, {.chance = .85}, 1000, g, later);
    CHECK(later.speculated > .9 * later.steps);
  }
}

TEST_CASE("When acceptance falls in mid-text, speculation is off within 96 steps") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Switch to(kDefaults);
    std::mt19937 g(seed);
    Tally good;
    decode(to, {.chance = .8}, 2000, g, good);
    int steps = 0;
    for (Tally poor; to.is_on() && steps < 200; ++steps) decode(to, {.chance = 0}, 1, g, poor);
    INFO("seed " << seed);
    CHECK(steps <= 96);
  }
}

}  // namespace
