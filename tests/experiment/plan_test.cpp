// SPDX-License-Identifier: Apache-2.0
#include "experiment/plan.hpp"

#include <catch2/catch.hpp>

#include "experiment/baseline.hpp"
#include "experiment/trial.hpp"

using namespace redline;
using namespace redline::experiment;
using Catch::Matchers::Contains;

namespace {

constexpr auto kBase = kTrial;
constexpr auto kMatrix =
    "matrix:\n"
    "  ngram:\n"
    "    draft: draft_ngram\n"
    "  model:\n"
    "    draft: {name: draft_model, model: small}\n"
    "    generate.max_tokens: 7\n"
    "  sampled:\n"
    "    draft: {name: draft_model, model: small}\n"
    "    accept: accept_ratio\n"
    "    sampler: [{name: sample_temperature, t: 0.80}]\n";

Plan plan_of(const std::string& yaml, const std::vector<std::string>& overrides = {},
             const std::vector<std::string>& sweeps = {}) {
  return trial_plan(Scratch(), yaml, overrides, sweeps);
}
std::string refusal(const std::string& yaml, const std::vector<std::string>& overrides = {},
                    const std::vector<std::string>& sweeps = {}) {
  try {
    plan_of(yaml, overrides, sweeps);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no InputError";
}
std::vector<std::string> names(const Plan& plan) {
  std::vector<std::string> out;
  for (const Cell& cell : plan.cells) out.push_back(cell.name);
  return out;
}
const Cell& cell_of(const Plan& plan, const std::string& name) {
  return *std::ranges::find(plan.cells, name, &Cell::name);
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("Each settings group without a plain cell gets one, before the cells it is for") {
  const Plan plan = plan_of(std::string(kBase) + kMatrix);
  CHECK(names(plan) == Names{"plain", "ngram", "plain-2", "model", "plain-t0.8", "sampled"});
  CHECK(cell_of(plan, "ngram").baseline == "plain");
  CHECK(cell_of(plan, "model").baseline == "plain-2");  // another limit is another setting
  CHECK(cell_of(plan, "sampled").baseline == "plain-t0.8");
  const Cell& plain = cell_of(plan, "plain-t0.8");
  CHECK(plain.engine.draft.name == "draft_none");
  CHECK(plain.engine.accept.name == "accept_match");
  CHECK(plain.engine.sampler.at(0).arguments.at(0).value == "0.8");
  CHECK(plain.baseline.empty());
}

TEST_CASE("A plain cell of the matrix is the baseline, wherever it stands") {
  const Plan plan = plan_of(std::string(kBase) +
                            "matrix: {ngram: {draft: draft_ngram}, off: {}, other: {draft: "
                            "draft_ngram, accept: accept_ratio}}\n");
  CHECK(names(plan) == Names{"off", "ngram", "other"});
  CHECK(cell_of(plan, "other").baseline == "off");
}

TEST_CASE("A sampled Gumbel cell is measured against plain decoding by the same race") {
  const std::string yaml = std::string(kBase) +
                           "accept: accept_gumbel\nsampler: [{name: sample_temperature, t: 1}]\n"
                           "matrix: {race: {draft: draft_ngram}}\n";
  const Plan plan = plan_of(yaml);
  CHECK(names(plan) == Names{"plain-gumbel-t1", "race"});
  CHECK(plan.cells[0].engine.accept.name == "accept_gumbel");
  CHECK(outputs_equal_baseline(plan.cells[1]));
  CHECK(names(plan_of(yaml, {"sampler.0.t=0"})) == Names{"plain", "race"});
}

TEST_CASE("Equal outputs are owed at temperature 0 and by rules that share the noise") {
  const Plan plan = plan_of(std::string(kBase) + kMatrix);
  CHECK(outputs_equal_baseline(cell_of(plan, "ngram")));
  CHECK(!outputs_equal_baseline(cell_of(plan, "sampled")));
  CHECK(!outputs_equal_baseline(cell_of(plan, "plain")));
}

TEST_CASE("Every default is written into the resolved config, and reads back as the same cell") {
  const Plan plan = plan_of(std::string(kBase) + kMatrix);
  const config::Value cell = to_value(cell_of(plan, "model"));
  for (const char* path :
       {"engine.threads", "engine.kv_dtype", "engine.numeric_mode", "generate.warmup",
        "generate.stop", "trace.level", "length.k", "draft.t", "sampler.0.t", "seed",
        "dataset.0.sha256", "parallel.launcher", "model.chat_template"}) {
    INFO(path);
    CHECK(config::get(cell, path) != nullptr);
  }
  CHECK(config::get(cell, "generate.max_tokens")->scalar == "7");
  const Scratch scratch;
  scratch.write("config.resolved.json", config::to_json(to_value(plan)));
  const Plan again = read_plan(scratch / "config.resolved.json");
  CHECK(config::to_json(to_value(again)) == config::to_json(to_value(plan)));
  std::string edited = config::to_json(to_value(plan));
  edited.replace(edited.find("\"max_tokens\":7"), 14, "\"max_tokens\":8");
  scratch.write("config.resolved.json", edited);
  CHECK_THROWS_WITH(read_plan(scratch / "config.resolved.json"), Contains("was edited"));
}

TEST_CASE("A cell's hash knows what it does, not where files lie or what it is called") {
  const auto hash = [](const std::string& more, const std::vector<std::string>& overrides) {
    return hash_of(plan_of(kBase + more, overrides).cells.at(0));
  };
  const std::string first = hash("", {});
  CHECK(first.size() == 64);
  CHECK(hash("", {}) == first);  // another scratch folder
  CHECK(hash("", {"name=other"}) == first);
  CHECK(hash("plugin_path: [/nowhere]\n", {}) == first);
  CHECK(hash("", {"sampler=[{name: sample_temperature, t: 0.0}]"}) == first);
  for (const char* other : {"seeds=1", "generate.max_tokens=9", "length.k=5", "dataset.0.limit=2",
                            "engine.threads=1", "model.target=b", "trace.level=full"})
    CHECK(hash("", {other}) != first);
  CHECK(hash("", {"model.target=/a/x.gguf"}) == hash("", {"model.target=/b/x.gguf"}));
}

TEST_CASE("A parameter alone is one of the default plugin of its group") {
  const std::string yaml = "redline: 1\nmodel: {target: m}\ndataset: d.jsonl\n";
  const Plan plan = plan_of(yaml, {"length.k=7"});
  CHECK(plan.cells[0].engine.length.name == "length_fixed");
  CHECK(plan.cells[0].engine.length.arguments.at(0).value == "7");
  CHECK_THAT(refusal(yaml + "sampler: [{t: 1}]\n"), Contains("c.yaml:4"));
}

TEST_CASE("Seeds multiply cells") {
  const Plan plan =
      plan_of(std::string(kBase) + "seeds: [1, 2]\nmatrix: {n: {draft: draft_ngram}}\n");
  CHECK(names(plan) == Names{"plain-s1", "n-s1", "plain-s2", "n-s2"});
  CHECK(cell_of(plan, "n-s2").baseline == "plain-s2");
}

TEST_CASE("all cells of a seed run before the next seed's, so that they meet one machine") {
  const Plan plan =
      plan_of(std::string(kBase) +
              "seeds: [1, 2]\nmatrix: {plain: {}, n: {draft: draft_ngram}, m: {draft: draft_ngram, "
              "length.k: 2}}\n");
  CHECK(names(plan) == Names{"plain-s1", "n-s1", "m-s1", "plain-s2", "n-s2", "m-s2"});
}

TEST_CASE("A sweep multiplies the cells it reaches") {
  const std::string yaml = std::string(kBase) + "matrix: {off: {}, n: {draft: draft_ngram}}\n";
  const Plan plan = plan_of(yaml, {}, {"length.k=2,4"});
  CHECK(names(plan) == Names{"off", "n-k2", "n-k4"});
  CHECK(cell_of(plan, "n-k2").engine.length.arguments.at(0).value == "2");
  CHECK(names(plan_of(yaml, {}, {"generate.max_tokens=3,5"})) ==
        Names{"off-max_tokens3", "off-max_tokens5", "n-max_tokens3", "n-max_tokens5"});
  CHECK(names(plan_of(yaml, {}, {"matrix.n.draft.n=1,2", "length.k=3"})) ==
        Names{"off", "n-n1-k3", "n-n2-k3"});
  CHECK_THAT(refusal(yaml, {}, {"draft.n=1,2"}), Contains("reaches no cell"));
}

TEST_CASE("An override that a cell sets itself is noted, not lost") {
  const std::string yaml = std::string(kBase) + kMatrix;
  const Plan plan = plan_of(yaml, {"generate.max_tokens=5"});
  REQUIRE(plan.notes.size() == 1);
  CHECK_THAT(plan.notes[0], Contains("'model'") && Contains("matrix.model.generate.max_tokens"));
  CHECK(cell_of(plan, "ngram").generate.max_tokens == 5);
  CHECK(cell_of(plan, "model").generate.max_tokens == 7);
  CHECK(
      cell_of(plan_of(yaml, {"matrix.model.generate.max_tokens=6"}), "model").generate.max_tokens ==
      6);
}

TEST_CASE("Errors name the line and the nearest key") {
  const std::string base = kBase;
  CHECK_THAT(refusal(base + "genrate: {max_tokens: 3}\n"),
             Contains("c.yaml:6") && Contains("'generate'"));
  CHECK_THAT(refusal(base + "engine: {page_token: 16}\n"),
             Contains("c.yaml:6") && Contains("'page_tokens'"));
  CHECK_THAT(refusal(base + "matrix:\n  a: {drafts: x}\n"),
             Contains("c.yaml:7") && Contains("'draft'"));
  CHECK_THAT(refusal(base + "cells: {}\n"), Contains("'cells' is called 'matrix'"));
  CHECK_THAT(refusal(base + "engine: {block_size: 16}\n"), Contains("page_tokens"));
  CHECK_THAT(refusal("name: x\n"), Contains("redline: 1"));
  CHECK_THAT(refusal("redline: 2\n"), Contains("c.yaml:1") && Contains("reads 1"));
  CHECK_THAT(refusal(base + "draft: {name: draft_ngram, m: 3}\n"), Contains("c.yaml:6"));
  CHECK_THAT(refusal(base + "draft: draft_ngran\n"), Contains("c.yaml:6: no drafter"));
  CHECK_THAT(refusal(base, {"draft.n=3"}), Contains("draft.n=3"));
  CHECK_THAT(refusal(base + "generate: {max_tokens: 0}\n"), Contains("c.yaml:6"));
  CHECK_THAT(refusal(base + "matrix: {a/b: {}}\n"), Contains("a/b"));
  CHECK_THAT(refusal("redline: 1\nmodel: {target: x}\n"), Contains("dataset"));
  CHECK_THAT(refusal("redline: 1\ndataset: d.jsonl\n"), Contains("model"));
  CHECK_THAT(refusal(base, {"dataset.0.path=none.jsonl"}), Contains("none.jsonl"));
}

TEST_CASE("What this build cannot do is refused by name, never ignored") {
  const std::string base = kBase;
  for (const char* setting : {"tp: 0", "draft_tp: 0", "kv_dtype: q4_0", "numeric_mode: fast",
                              "device: cuda", "dtype: f16", "max_num_seqs: 0", "page_tokens: 32"}) {
    const std::string text = setting;
    CHECK_THAT(refusal(base + "engine: {" + text + "}\n"),
               Contains("c.yaml:6") && Contains("'" + text.substr(0, text.find(':')) + "'") &&
                   Contains(text.substr(text.find(' ') + 1)));
  }
  CHECK_THAT(refusal(base + "parallel: {backend: nccl}\n"), Contains("threads or mpi"));
  CHECK_THAT(refusal(base + "trace: {level: all}\n"), Contains("counts, chosen, topk or full"));
  CHECK_THAT(refusal(base + "trace: {level: counts, optimal: true}\n"),
             Contains("c.yaml:6") && Contains("chosen or more"));
  CHECK(plan_of(base + "trace: {level: chosen, optimal: true}\n").cells.at(0).engine.trace_optimal);
  CHECK_NOTHROW(plan_of(base + "engine: {tp: 1, kv_dtype: f16, numeric_mode: row_invariant}\n"));
}

TEST_CASE("KV in F16 is the default, and another type is another cell") {
  const std::string base = kBase;
  const Plan usual = plan_of(base);
  for (const char* type : {"f32", "q8_0"}) {
    const Plan plan = plan_of(base + "engine: {kv_dtype: " + std::string(type) + "}\n");
    CHECK(config::get(to_value(plan.cells[0]), "engine.kv_dtype")->scalar == type);
    CHECK(hash_of(plan.cells[0]) != hash_of(usual.cells[0]));
  }
  CHECK(config::get(to_value(usual.cells[0]), "engine.kv_dtype")->scalar == "f16");
}

TEST_CASE("Weights lie in huge pages unless a config says otherwise") {
  const Plan off = plan_of(kBase + std::string("engine: {huge_pages: false}\n"));
  CHECK_FALSE(off.cells[0].engine.huge_pages);
  CHECK(config::get(to_value(off.cells[0]), "engine.huge_pages")->boolean() == false);
  CHECK(plan_of(kBase).cells[0].engine.huge_pages);
}

TEST_CASE("The standard chain is the links that change something") {
  const auto links = [](const std::string& sampler) {
    Names out;
    const Plan plan = plan_of(kBase + sampler);
    for (const auto& link : plan.cells.at(0).engine.sampler)
      out.push_back(link.name + "=" + link.arguments.at(0).value);
    return out;
  };
  CHECK(links("sampler: standard\n") == Names{"sample_temperature=1"});
  CHECK(links("sampler: {name: standard, temperature: 0.7, top_k: 40}\n") ==
        Names{"sample_temperature=0.7", "sample_top_k=40"});
  CHECK(links("sampler: {name: standard, temperature: 0, top_p: 1}\ngenerate: {min_tokens: 3}\n") ==
        Names{"sample_temperature=0", "sample_min_tokens=3"});
  CHECK_THAT(refusal(std::string(kBase) + "sampler: {name: standard, temprature: 0}\n"),
             Contains("c.yaml:6") && Contains("'temperature'"));
}
