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

// Milliseconds of a real pair, as an example: a target of 1.5B and its draft of 0.5B on two cores.
constexpr double kPlainMs = 28, kFourDraftedMs = 37.5 + 4 * 11.1;

// A draft model as dear as the target (it is the target) keeps all four of its tokens.
constexpr double kSelfDraftedMs = 37.5 + 4 * kPlainMs;

TEST_CASE("A cell of eight requests on a real pair's costs loses at most 3 % in vain") {
  struct Case {
    double chance, spec_ms;
  };
  for (const Case c : {Case{0, kFourDraftedMs}, Case{.05, kFourDraftedMs},
                       Case{.15, kFourDraftedMs}, Case{1, kSelfDraftedMs}})
    for (unsigned seed = 0; seed < 50; ++seed) {
      Switch to(kDefaults);
      std::mt19937 g(seed);
      std::uniform_real_distribution<double> uniform;
      double ms = 0;
      int tokens = 0;
      while (tokens < 8 * 128) {
        if (!to.is_on()) {
          to.plain_step(kPlainMs);
          ms += kPlainMs, ++tokens;
          continue;
        }
        int kept = 0;
        while (kept < 4 && uniform(g) < c.chance) ++kept;
        to.speculative_step({kept + 1.0, c.spec_ms, kPlainMs});
        ms += c.spec_ms, tokens += kept + 1;
      }
      INFO("chance " << c.chance << " seed " << seed << " loss " << ms / tokens / kPlainMs - 1);
      CHECK(ms <= 1.03 * kPlainMs * tokens);
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
