// SPDX-License-Identifier: Apache-2.0
#include "experiment/report.hpp"

#include <catch2/catch.hpp>

#include "experiment/runner.hpp"
#include "experiment/summary.hpp"
#include "experiment/table.hpp"
#include "experiment/trial.hpp"

using namespace redline;
using namespace redline::experiment;
using Catch::Matchers::Contains;

namespace {

Finished request(std::uint64_t key, std::vector<Token> tokens, std::int64_t ns_each) {
  Finished f;
  f.key = key, f.data_set = "d", f.id = std::to_string(key), f.finish = "length";
  f.margins.assign(tokens.size(), 0.25f);
  for (std::size_t i = 0; i < tokens.size(); ++i)
    f.times.push_back({static_cast<std::int64_t>(i + 1) * ns_each, 1});
  f.tokens = std::move(tokens);
  f.counts.emitted = f.counts.committed = f.tokens.size();
  return f;
}

// A run of a plain cell and an n-gram cell, each with two requests, as a run leaves it.
struct TwoCells {
  Scratch scratch;
  RunFolder run = RunFolder::create(
      scratch / "run",
      trial_plan(scratch, std::string(kTrial) + "matrix: {n: {draft: draft_ngram}}\n"
                                                "sampler: [{name: sample_temperature, t: 0}]\n"),
      "", {}, config::Value::map(), false);

  void finish(const std::string& name, const std::vector<Finished>& requests,
              const std::string& build = "b") {
    const Cell& cell = run.cell(name);
    RequestLog log(run.of(cell) / "requests.jsonl");
    for (const Finished& f : requests) log.append(f);
    config::Value summary = summary_of(requests);
    summary.put("downgraded", config::Value::of(false));
    summary.put("identity", config::Value::map().put("build_sha256", config::Value::of(build)));
    write_whole(run.of(cell) / "summary.json", config::to_json(summary));
    run.mark_done(cell);
  }
  Report report() const {
    const std::filesystem::path root = run.root();
    return Report(std::span(&root, 1));
  }
};

}  // namespace

TEST_CASE("A speed-up is the ratio of throughputs, and equal outputs are counted") {
  TwoCells two;
  two.finish("plain", {request(1, {5, 6, 7}, 20), request(2, {8, 9}, 20)});
  two.finish("n", {request(1, {5, 6, 7}, 10), request(2, {8, 9}, 10)});
  const Report report = two.report();
  REQUIRE(report.rows().size() == 2);
  CHECK(*report.rows()[1].speedup == Approx(2));
  CHECK(report.rows()[1].outputs->same == 2);
  CHECK(!report.rows()[0].outputs);
  CHECK(report.clean());
  CHECK_THAT(report.text(), Contains("2.00") && Contains("2/2"));
  CHECK_THAT(report.markdown(), Contains("| n |") && Contains("|---:|"));
  CHECK(report.json().at("cells").items[1].find("speedup")->number(0, 9) == Approx(2));
}

TEST_CASE("A divergence names the request, the token and both logit gaps") {
  TwoCells two;
  two.finish("plain", {request(1, {5, 6, 7}, 20), request(2, {8, 9, 1}, 20)});
  two.finish("n", {request(1, {5, 6, 7}, 10), request(2, {8, 4, 1}, 10)});
  const Report report = two.report();
  CHECK(!report.clean());
  CHECK_THAT(report.text(), Contains("1/2") && Contains("n: d/2 differs from output token 1 on") &&
                                Contains("0.25"));
  const Divergence& d = report.rows()[1].outputs->divergences.at(0);
  CHECK(d.index == 1);
  CHECK(d.margin == 0.25);
}

TEST_CASE("An output cut short differs where it ends") {
  const std::vector<Finished> a{request(1, {5, 6}, 1)}, b{request(1, {5, 6, 7}, 1)};
  const Comparison c = compare_outputs(a, b);
  CHECK(c.same == 0);
  CHECK(c.divergences.at(0).index == 2);
  CHECK(compare_outputs(a, {}).compared == 0);
}

TEST_CASE("No speed-up is given across builds") {
  TwoCells two;
  two.finish("plain", {request(1, {5}, 20)}, "old");
  two.finish("n", {request(1, {5}, 10)}, "new");
  const Report report = two.report();
  CHECK(!report.rows()[1].speedup);
  CHECK_THAT(report.text(), Contains("differ in build_sha256"));
}

TEST_CASE("A failed and a missing cell stand in the table with their reason") {
  TwoCells two;
  two.run.mark_failed(two.run.cell("n"), "killed by signal 9 (Killed)");
  const Report report = two.report();
  CHECK(!report.clean());
  CHECK_THAT(report.text(), Contains("not done") && Contains("FAILED") && Contains("signal 9"));
}

TEST_CASE("A run's folder is made once, and joined only by the same experiment") {
  const Scratch scratch;
  const Plan plan = trial_plan(scratch, kTrial);
  const auto create = [&](const Plan& p, bool join) {
    return RunFolder::create(scratch / "run", p, "yaml", {"a=1"}, config::Value::map(), join);
  };
  CHECK(create(plan, false).state(plan.cells[0]) == CellState::WAITING);
  CHECK_THROWS_WITH(create(plan, false), Contains("there already"));
  CHECK_NOTHROW(create(plan, true));
  CHECK_THROWS_WITH(create(trial_plan(scratch, kTrial, {"seeds=9"}), true),
                    Contains("another experiment"));
  const RunFolder run = RunFolder::open(scratch / "run");
  CHECK(run.text("overrides.txt") == "a=1\n");
  CHECK_THROWS_WITH(run.cell("none"), Contains("it has trial, plain") || Contains("it has trial"));
  CHECK_THROWS_AS(RunFolder::open(scratch / "nowhere"), InputError);
}

TEST_CASE("A shard is i of n, counted from one") {
  CHECK(parse_shard("2/8").index == 1);
  CHECK(parse_shard("8/8").count == 8);
  for (const char* odd : {"0/8", "9/8", "2", "/8", "2/", "2/0", "a/b", "1/2x", "-1/2"})
    CHECK_THROWS_AS(parse_shard(odd), InputError);
}

TEST_CASE("A table lines its columns up") {
  Table table({"cell", "n"});
  table.add({"a", "10"});
  table.add({"longer", "5"});
  CHECK(table.text() == "cell     n\na       10\nlonger   5\n");
  CHECK(table.markdown() == "| cell | n |\n|---|---:|\n| a | 10 |\n| longer | 5 |\n");
}
