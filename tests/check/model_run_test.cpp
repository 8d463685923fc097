// SPDX-License-Identifier: Apache-2.0
// Plugins on tiny models: right ones pass, biased ones are named, a stopped check goes on as if it
// had not been.
#include "check/model_run.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "check/statistics.hpp"
#include "step/cell.hpp"

namespace redline::check {
namespace {

namespace fs = std::filesystem;

const fs::path& folder() {
  static const struct Folder {
    Folder() : path(fs::temp_directory_path() / ("redline-check-" + std::to_string(getpid()))) {
      fs::create_directories(path);
    }
    ~Folder() { fs::remove_all(path); }
    fs::path path;
  } all;
  return all.path;
}

std::string tiny(int layers) {
  const fs::path path = folder() / ("tiny-" + std::to_string(layers) + ".gguf");
  if (!fs::exists(path)) model::write_tiny_model(tiny_spec(layers), path);
  return path.string();
}

ModelSpec spec_of(const std::string& rule, const char* temperature = "0.8",
                  std::map<std::string, std::string> values = {}) {
  ModelSpec spec;
  engine::Settings& s = spec.settings;
  s.target = tiny(2);
  s.cache_folder = folder();
  s.threads = 1;
  s.max_model_len = 256;
  s.trace_level = trace::Level::CHOSEN;
  spec.draft = tiny(1);
  spec.text_tokens = 128;
  const auto choice = [](const Choice& c) { return engine::PluginChoice{c.name, c.arguments()}; };
  s.draft = choice({"draft_model", {{"model", spec.draft}}});
  s.accept = choice({rule, std::move(values)});
  s.length = choice({"length_fixed", {{"max_depth", "4"}}});
  s.sampler = {choice({"sample_temperature", {{"t", temperature}}})};
  return spec;
}

double worst(const ModelRun& run) {
  std::vector<double> p;
  for (const Gate& gate : run.report(1e-3).gates) p.push_back(gate.p);
  const std::vector<double> adjusted = holm(p);
  return *std::min_element(adjusted.begin(), adjusted.end());
}

void advance(ModelRun& run, std::int64_t tokens) {
  while (run.tokens() < tokens) REQUIRE(run.advance());
}

struct Sampled {
  explicit Sampled(const std::string& rule)
      : spec(spec_of(rule)),
        run(spec, step::registry(), law_judge(spec, step::registry()), [](const auto&) {}) {}
  ModelSpec spec;
  ModelRun run;
};

TEST_CASE("Lossless rules pass on a tiny model") {
  for (const char* rule : {"accept_ratio", "accept_block", "accept_delta"}) {
    INFO(rule);
    Sampled s(rule);
    advance(s.run, 10000);
    CHECK(worst(s.run) > 1e-3);
    CHECK(s.run.report(1e-3).faults.empty());
    CHECK(s.run.kept_per_step() > .3);
  }
}

TEST_CASE("Biased rules are named on a tiny model") {
  for (const char* rule : {"n1", "n2", "n13", "accept_typical"}) {
    INFO(rule);
    Sampled s(rule);
    advance(s.run, 10000);
    CHECK(worst(s.run) < 1e-9);
  }
}

TEST_CASE("A check that is stopped and gone on with ends as one that was not") {
  Sampled whole("accept_ratio"), first("accept_ratio"), second("accept_ratio");
  advance(whole.run, 1000);
  advance(first.run, 500);
  CHECK_FALSE(first.run.advance([] { return true; }));  // cancelled: nothing of it counts
  second.run.restore(config::parse_json(config::to_json(first.run.state()), "state"));
  advance(second.run, 1000);
  CHECK(config::to_json(second.run.state()) == config::to_json(whole.run.state()));
}

TEST_CASE("Greedy text is plain decoding's, and a divergence is told with its place") {
  const auto report = [](const std::string& rule, std::map<std::string, std::string> values) {
    const ModelSpec spec = spec_of(rule, "0", std::move(values));
    ModelRun run(spec, step::registry(), twin_judge(spec, step::registry()), [](const auto&) {});
    advance(run, 1000);
    return run.report(1e-3).faults;
  };
  CHECK(report("accept_ratio", {}).empty());
  const auto faults = report("accept_synthetic", {{"rates", "1"}});
  REQUIRE(faults.size() == 1);
  CHECK_THAT(faults[0], Catch::Matchers::Contains("texts diverge") &&
                            Catch::Matchers::Contains("the first: text 0, token "));
}

}  // namespace
}  // namespace redline::check
