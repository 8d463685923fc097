// SPDX-License-Identifier: Apache-2.0
#include "experiment/pairs.hpp"

#include <catch2/catch.hpp>

#include "experiment/paired.hpp"
#include "experiment/trial.hpp"

using namespace redline;
using namespace redline::experiment;
using Catch::Matchers::Contains;

namespace {

std::string with_pair(const std::string& pair) {
  return std::string(kTrial) +
         "matrix:\n  short: {draft: draft_ngram}\n  long: {draft: draft_ngram, length.k: 8}\n"
         "  other: {draft: draft_ngram, dataset: [{path: d.jsonl, limit: 2}]}\n"
         "seeds: [1, 2]\n"
         "compare:\n  - " +
         pair + "\n";
}

Finished finished(std::uint64_t key, std::uint16_t kept, double foretold) {
  Finished f;
  f.key = key, f.finish = "length";
  f.tokens.assign(kept + 2U, 1);
  f.times = {{0, 1}, {1'000'000'000, kept + 1}};
  f.counts = {4, kept, kept + 2U, kept + 2U, 1, 1};
  f.drafted_per_step = {4}, f.accepted_per_step = {kept};
  f.tally = {1, kept, foretold, 1e9};
  return f;
}

}  // namespace

TEST_CASE("A pair names cells without their seeds, and stands in the frozen plan") {
  const Scratch scratch;
  const Plan plan = trial_plan(scratch, with_pair("{of: long, to: short}"));
  REQUIRE(plan.compare.size() == 1);
  CHECK(plan.compare[0].of == "long");
  CHECK(pool_of(plan.cells, "long").size() == 2);
  CHECK(pool_of(plan.cells, "long-s2").size() == 1);
  CHECK(pool_of(plan.cells, "lon").empty());
  scratch.write("config.resolved.json", config::to_json(to_value(plan)));
  CHECK(read_plan(scratch / "config.resolved.json").compare.at(0).to == "short");
}

TEST_CASE("A pair that cannot be compared is refused with its line") {
  const Scratch scratch;
  const auto refused = [&](const std::string& pair, const std::string& why) {
    CHECK_THROWS_WITH(trial_plan(scratch, with_pair(pair)), Contains("c.yaml:12") && Contains(why));
  };
  refused("{of: long, to: shrot}", "did you mean 'short'");
  refused("{of: long, to: long}", "the cell itself");
  refused("{of: long, to: other}", "other data or seeds");
  refused("{of: long, against: short}", "against");
}

TEST_CASE("Requests pair by key and seed, and each measure gets its verdict") {
  BySeed of, to;
  for (std::uint64_t key = 0; key < 30; ++key) {
    const auto easy = static_cast<std::uint16_t>(key % 3);
    of[1].push_back(finished(key, easy + 1, easy + 1));
    to[1].push_back(finished(key, easy, easy));
  }
  to[2] = of[1];                        // no seed of the other's: left out
  of[1].push_back(finished(99, 4, 4));  // no such request of the other's: left out
  std::vector<PairedRow> rows = paired_rows({"a", "b"}, of, to);
  judge(rows);
  REQUIRE(!rows.empty());
  CHECK(rows[0].measure == "accept length");
  CHECK(rows[0].requests == 30);
  CHECK(rows[0].of_mean == Approx(3));
  CHECK(rows[0].to_mean == Approx(2));
  CHECK(rows[0].is_real == true);
  const auto by_cost = std::ranges::find(rows, kByCostTable, &PairedRow::measure);
  REQUIRE(by_cost != rows.end());
  CHECK(by_cost->difference.value == Approx(1));
  std::vector<PairedRow> equal = paired_rows({"a", "a"}, of, of);
  judge(equal);
  CHECK(std::ranges::all_of(equal, [](const PairedRow& r) { return r.is_real == false; }));
}

TEST_CASE("What is not known of a request is no figure") {
  BySeed of;
  for (std::uint64_t key = 0; key < 5; ++key) of[1].push_back(finished(key, 1, 1));
  of[1][2].tally.cost_ns = 0;
  const std::vector<PairedRow> rows = paired_rows({"a", "a"}, of, of);
  CHECK(std::ranges::find(rows, kByCostTable, &PairedRow::measure) == rows.end());
  CHECK(std::ranges::find(rows, "score", &PairedRow::measure) == rows.end());
}

TEST_CASE("A rule that keeps what it foretold agrees, one that does not differs") {
  BySeed honest, boastful;
  for (std::uint64_t key = 0; key < 40; ++key) {
    const auto kept = static_cast<std::uint16_t>(key % 3);
    honest[1].push_back(finished(key, kept, 1));
    boastful[1].push_back(finished(key, kept, 1.75));
  }
  std::vector<ForetoldRow> rows = foretold_rows("honest", honest);
  rows.push_back(foretold_rows("boastful", boastful).at(0));
  judge(rows);
  CHECK(rows[0].foretold == Approx(1));
  CHECK(rows[0].agrees == true);
  CHECK(rows[1].agrees == false);
  CHECK(rows[1].difference.high < 0);
}

TEST_CASE("A handful of requests gets no verdict, however far apart two cells look") {
  BySeed of, to;
  for (std::uint64_t key = 0; key < kFewestRequests - 1; ++key) {
    of[1].push_back(finished(key, 9, 2));
    to[1].push_back(finished(key, 1, 2));
  }
  std::vector<PairedRow> rows = paired_rows({"a", "b"}, of, to);
  std::vector<ForetoldRow> foretold = foretold_rows("a", of);
  judge(rows), judge(foretold);
  CHECK(rows.at(0).difference.excludes_zero());
  CHECK(rows[0].is_real == std::nullopt);
  CHECK(foretold.at(0).agrees == std::nullopt);
  CHECK(table_of(rows).text().find("too few requests") != std::string::npos);
}
