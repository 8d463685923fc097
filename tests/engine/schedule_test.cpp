// SPDX-License-Identifier: Apache-2.0
// Whatever the schedule, a request's result is the one it has alone. REDLINE_SCHEDULES: how many
// random ones are tried. The page size is a constant of the build and does not vary here.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>

#include "engine/crowd.hpp"

namespace {

using namespace redline;
using namespace tests;

std::string joined(const std::vector<Token>& ids) {
  std::string text;
  for (const Token id : ids) text.append(std::to_string(id)).append(",");
  return text;
}

// Each pair of drafter and rule that may be joined, once, with all else at random. A script is what
// its request says without a draft.
std::vector<Request> all_pairs(Dice& dice) {
  Engine probe(crowd_settings(), registry(), quiet);
  trace::NoTrace sink;
  std::vector<Request> requests;
  const std::size_t num_drafters = drafters("1").size();
  for (std::size_t d = 0; d < num_drafters; ++d)
    for (const PluginChoice& rule : rules()) {
      Request r = some_request(static_cast<int>(requests.size()), dice);
      r.decoding.sampler = some_sampler(dice);
      r.decoding.draft = choice("draft_none");
      const std::string script = joined(probe.run(r, sink).tokens);
      r.decoding.draft = drafters(script)[d];
      r.decoding.accept = rule;
      r.decoding.length = some_length(dice);
      Results none;
      if (!submit(probe, r, none)) continue;
      probe.cancel(r.key);
      probe.iterate(sink);
      requests.push_back(std::move(r));
    }
  return requests;
}

struct Schedule {
  explicit Schedule(Dice& dice) : settings(crowd_settings()) {
    settings.max_num_seqs = 1 + dice.below(12);
    settings.rows_per_step = 16 + dice.below(3) * dice.below(60);  // the widest draft fits
    const int of_one = (settings.max_model_len + settings.rows_per_step) / 16 + 1;
    if (!dice.one_in(3)) settings.kv_pages = of_one + dice.below(8);
    settings.threads = 1 + dice.below(3);
    settings.prefix_cache = dice.one_in(2);
    arrivals = 1 + dice.below(6);
    preempts = dice.one_in(2);
  }
  std::string words() const {
    return std::to_string(settings.max_num_seqs) + " sequences, " +
           std::to_string(settings.rows_per_step) + " rows, " + std::to_string(settings.kv_pages) +
           " pages, " + std::to_string(settings.threads) + " threads, prefix cache " +
           (settings.prefix_cache ? "on" : "off") + (preempts ? ", forced preemptions" : "");
  }
  Settings settings;
  int arrivals;   // at most so many a time
  bool preempts;  // in each third iteration
};

struct Outcome {
  Results results;
  std::set<std::uint64_t> cancelled;
  std::int64_t preemptions = 0, cached_tokens = 0;
};

// Requests come in while others run; some are cancelled on their way.
Outcome run(const Schedule& schedule, std::vector<Request> requests, Dice& dice) {
  Outcome out;
  Engine engine(schedule.settings, registry(), quiet);
  trace::NoTrace sink;
  dice.shuffle(requests);
  std::vector<std::uint64_t> submitted;
  for (int turn = 0; out.results.size() < submitted.size() || !requests.empty(); ++turn) {
    for (int n = dice.below(schedule.arrivals + 1); n > 0 && !requests.empty(); --n) {
      submitted.push_back(requests.back().key);
      REQUIRE(submit(engine, requests.back(), out.results));
      requests.pop_back();
    }
    if (dice.one_in(9) && !submitted.empty()) {
      const auto key = submitted[dice.below(static_cast<int>(submitted.size()))];
      if (engine.cancel(key)) out.cancelled.insert(key);
    }
    if (schedule.preempts && turn % 3 == 0) engine.preempt(sink);
    engine.iterate(sink);
  }
  CHECK(engine.held_pages() == 0);
  for (const auto& [key, result] : out.results) {
    out.preemptions += result.preemptions;
    out.cached_tokens += result.cached_tokens;
  }
  return out;
}

void check_cut_short(const Result& cut, const Result& whole) {
  REQUIRE(cut.finish == trace::FinishReason::CANCELLED);
  REQUIRE(cut.tokens.size() <= whole.tokens.size());
  CHECK(std::equal(cut.tokens.begin(), cut.tokens.end(), whole.tokens.begin()));
  CHECK(std::equal(cut.logprobs.begin(), cut.logprobs.end(), whole.logprobs.begin()));
}

int schedules() {
  const char* const wanted = std::getenv("REDLINE_SCHEDULES");
  return wanted ? std::max(1, std::atoi(wanted)) : 4;
}

TEST_CASE("A request's result is the same in every schedule, for every drafter and rule") {
  Dice dice(1);
  const std::vector<Request> requests = all_pairs(dice);
  std::set<std::string> drafters_met, rules_met;
  for (const Request& r : requests) {
    drafters_met.insert(r.decoding.draft->name);
    rules_met.insert(r.decoding.accept->name);
  }
  CHECK(drafters_met.size() >= 5);
  CHECK(rules_met.size() == rules().size());
  const Results alone = run_alone(crowd_settings(), requests);
  std::uint64_t drafted = 0, accepted = 0, failed = 0;
  for (const auto& [key, result] : alone) {
    drafted += result.counts.drafted;
    accepted += result.counts.accepted_by_rule;
    failed += result.error.empty() ? 0 : 1;
  }
  CHECK(drafted > requests.size());
  CHECK(accepted > drafted / 10);
  CHECK(failed < requests.size() / 10);  // a rule may refuse a vocabulary so wide
  std::int64_t preemptions = 0, cached_tokens = 0, cancelled = 0;
  for (int k = 0; k < schedules(); ++k) {
    const Schedule schedule(dice);
    INFO("schedule " << k << ": " << schedule.words());
    const Outcome out = run(schedule, requests, dice);
    REQUIRE(out.results.size() == requests.size());
    for (const Request& r : requests) {
      INFO(r.decoding.draft->name << ' ' << r.decoding.accept->name << ' '
                                  << r.decoding.length->name << ", " << r.prompt.size()
                                  << " prompt tokens, max_tokens " << r.max_tokens);
      if (out.cancelled.contains(r.key))
        check_cut_short(out.results.at(r.key), alone.at(r.key));
      else
        check_same(out.results.at(r.key), alone.at(r.key));
    }
    preemptions += out.preemptions;
    cached_tokens += out.cached_tokens;
    cancelled += static_cast<std::int64_t>(out.cancelled.size());
  }
  CHECK(preemptions > 0);
  CHECK(cached_tokens > 0);
  CHECK(cancelled > 0);
}

}  // namespace
