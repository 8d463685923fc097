// SPDX-License-Identifier: Apache-2.0
// Many requests at once give what each gives alone.
#include <catch2/catch.hpp>
#include <map>

#include "engine/engine.hpp"
#include "engine/tiny.hpp"

namespace {

using namespace redline;
using engine::Decoding, engine::Engine, engine::PluginChoice, engine::Request, engine::Result,
    engine::Settings;

const plugin::Registry& registry() {
  static const plugin::Registry known({}, {});
  return known;
}

PluginChoice draft_model() {
  return {"draft_model", {{"model", tests::small_model(files::TensorType::Q4_0), "test"}}};
}

Settings settings() {
  Settings s;
  s.target = tests::small_model();
  s.draft = draft_model();
  s.sampler = {{"sample_temperature", {{"t", "0.8", "test"}}}};
  s.threads = 2;
  s.max_model_len = 128;
  s.rows_per_step = 64;
  s.cache_folder = tests::tiny_folder();
  return s;
}

Request request(int k) {
  Request r;
  r.key = engine::request_key("many", static_cast<std::uint64_t>(k), 0, 0);
  r.seed = 5;
  for (int i = 0; i < 5 + 13 * k % 60; ++i) r.prompt.push_back((i * i * 7 + 3 * k) % 200);
  r.max_tokens = 10 + k % 17;
  r.ignore_eos = true;
  r.logprobs = 3;
  return r;
}

std::map<std::uint64_t, Result> run_all(const Settings& s, int count) {
  Engine engine(s, registry(), [](const std::string&) {});
  trace::NoTrace sink;
  std::map<std::uint64_t, Result> results;
  for (int k = 0; k < count; ++k) {
    const Request r = request(k);
    engine.submit(
        r, {.on_tokens = {}, .cancelled = {}, .on_end = [&results, key = r.key](Result mine) {
              results.emplace(key, std::move(mine));
            }});
  }
  const std::int32_t free = engine.free_pages();
  while (engine.iterate(sink)) {
  }
  CHECK(engine.free_pages() >= free);
  return results;
}

void check_same(const Result& a, const Result& b) {
  CHECK(a.error == b.error);
  CHECK(a.tokens == b.tokens);
  CHECK(a.logprobs == b.logprobs);
  CHECK(a.drafted_per_step == b.drafted_per_step);
  CHECK(a.accepted_per_step == b.accepted_per_step);
  CHECK(a.finish == b.finish);
}

TEST_CASE("requests run together, preempted or not, give what each gives alone") {
  const Settings alone = settings();
  const auto expected = run_all(alone, 20);
  REQUIRE(expected.size() == 20);
  for (const bool prefixes : {false, true})
    for (const int pages : {0, 16}) {
      Settings s = settings();
      s.max_num_seqs = 16;
      s.kv_pages = pages;
      s.prefix_cache = prefixes;
      const auto results = run_all(s, 20);
      int preempted = 0;
      for (const auto& [key, result] : expected) check_same(results.at(key), result);
      for (const auto& [key, result] : results) preempted += result.preemptions;
      INFO(pages << " pages");
      CHECK((preempted > 0) == (pages > 0));
    }
}

}  // namespace
