// SPDX-License-Identifier: Apache-2.0
// Requests of every strategy that the built-in plugins make, random in all else, and what came of
// them.
#pragma once
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "engine/engine.hpp"
#include "engine/tiny.hpp"

namespace tests {

using redline::engine::Engine, redline::engine::PluginChoice, redline::engine::Request,
    redline::engine::Result, redline::engine::Settings;
using Results = std::map<std::uint64_t, Result>;  // by request key

inline const redline::plugin::Registry& registry() {
  static const redline::plugin::Registry known({}, {});
  return known;
}

class Dice {  // the same numbers with every standard library
 public:
  explicit Dice(std::uint64_t seed) : bits_(seed) {}
  int below(int end) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(end)); }
  bool one_in(int odds) { return below(odds) == 0; }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (auto k = static_cast<int>(items.size()); k > 1; --k)
      std::swap(items[k - 1], items[below(k)]);
  }

 private:
  std::mt19937_64 bits_;
};

inline PluginChoice choice(std::string name, std::map<std::string, std::string> values = {}) {
  PluginChoice c{std::move(name), {}};
  for (auto& [key, value] : values) c.arguments.push_back({key, value, "test"});
  return c;
}
inline PluginChoice temperature(const std::string& t) {
  return choice("sample_temperature", {{"t", t}});
}

// Draft models: one that is often wrong, and the target itself.
inline std::string small_draft() { return small_model(redline::files::TensorType::Q4_0); }

// Each registered plugin of a kind, in its variants. A new plugin is among them by itself, but for
// draft_pipe, which needs a program to ask: tests/plugins/pipe_test.py has it.
inline std::vector<PluginChoice> drafters(const std::string& script) {
  std::vector<PluginChoice> all;
  for (const std::string& model : {small_draft(), small_model()}) {
    for (const char* method : {"sample", "greedy", "coupled"})
      all.push_back(choice("draft_model", {{"model", model}, {"method", method}}));
    for (const char* method : {"iid", "new", "greedy", "top"})
      all.push_back(
          choice("draft_tree", {{"model", model}, {"shape", "2;2,1"}, {"method", method}}));
  }
  all.push_back(
      choice("draft_tree", {{"model", small_model()}, {"shape", "2;1;1"}, {"method", "iid"}}));
  all.push_back(choice("paper_greedy_draft", {{"model", small_draft()}}));
  all.push_back(choice("draft_scripted", {{"ids", script}, {"right", "0.8, 0.6"}}));
  for (const auto& plugin : registry().list())
    if (plugin.kind == redline::Kind::DRAFTER && plugin.name != "draft_pipe" &&
        std::ranges::none_of(all, [&](const auto& c) { return c.name == plugin.name; }))
      all.push_back(choice(plugin.name));
  return all;
}
// accept_optimal takes at most 64 tokens: tests/step/batch_test.cpp has it.
inline std::vector<PluginChoice> rules() {
  std::vector<PluginChoice> all;
  for (const auto& plugin : registry().list())
    if (plugin.kind == redline::Kind::RULE && plugin.name != "accept_optimal")
      all.push_back(plugin.name == "accept_synthetic" ? choice(plugin.name, {{"rates", "0.7"}})
                                                      : choice(plugin.name));
  return all;
}
// One that reads history only, and no trace. length_goodput reads history, and a cost table beside
// it, which differs by the number of threads.
inline PluginChoice some_length(Dice& dice) {
  const std::set<std::string> others{"length_ranges", "length_auto", "length_goodput",
                                     "length_replay"};
  std::vector<PluginChoice> all;
  for (int depth = 1; depth <= 8; ++depth)
    all.push_back(
        choice("length_fixed", {{"max_depth", std::to_string(depth)}, {"max_nodes", "10"}}));
  for (const auto& plugin : registry().list())
    if (plugin.kind == redline::Kind::LENGTH && !others.contains(plugin.name))
      for (int times = 0; times < 3; ++times) all.push_back(choice(plugin.name));
  return all[dice.below(static_cast<int>(all.size()))];
}
inline std::vector<PluginChoice> some_sampler(Dice& dice) {
  std::vector<PluginChoice> chain;
  if (dice.one_in(3)) chain.push_back(choice("sample_penalty", {{"repetition", "1.3"}}));
  if (dice.one_in(4)) chain.push_back(choice("sample_bias", {{"add", "7:-100, 8:2.5"}}));
  if (dice.one_in(4)) chain.push_back(choice("sample_top_k", {{"k", "20"}}));
  if (dice.one_in(4)) chain.push_back(choice("sample_top_p", {{"p", "0.9"}}));
  if (dice.one_in(4)) chain.push_back(choice("sample_min_p", {{"p", "0.05"}}));
  chain.push_back(temperature(dice.one_in(3) ? "0" : dice.one_in(2) ? "0.7" : "1"));
  return chain;
}

// The k-th, any strategy aside. Some begin alike; few ids, so that n-grams repeat.
inline Request some_request(int k, Dice& dice) {
  Request r;
  r.key = redline::engine::request_key("crowd", static_cast<std::uint64_t>(k), 0, 0);
  r.seed = static_cast<std::uint64_t>(k) * 7 + 1;
  const int alike = dice.below(3) * 16 + dice.below(2), size = 1 + alike + dice.below(40);
  for (int i = 0; i < size; ++i)
    r.prompt.push_back(i < alike ? 60 + (i * i) % 11 : 60 + dice.below(6));
  r.max_tokens = 1 + dice.below(24);
  r.min_tokens = dice.one_in(4) ? dice.below(r.max_tokens + 1) : 0;
  for (int n = dice.one_in(3) ? 25 : 0; n > 0; --n) r.stop_tokens.push_back(dice.below(300));
  for (int n = dice.one_in(3) ? 4 : 0; n > 0; --n)
    r.stop_strings.push_back(std::string(1, static_cast<char>(' ' + dice.below(90))));
  r.ignore_eos = dice.one_in(2);
  r.logprobs = dice.one_in(3) ? 4 : 0;
  return r;
}

// Settings under which any drafter above may be named.
inline Settings crowd_settings() {
  Settings s;
  s.target = small_model();
  for (const std::string& model : {small_draft(), small_model()})
    s.drafters.push_back(choice("draft_model", {{"model", model}}));
  s.threads = 1;
  s.max_model_len = 128;
  s.rows_per_step = 64;
  s.cache_folder = tiny_folder();
  return s;
}

inline void quiet(const std::string&) {}

// Submits what the engine takes; false for a pair that may not be joined.
inline bool submit(Engine& engine, const Request& r, Results& results) {
  try {
    engine.submit(
        r, {.on_tokens = {}, .cancelled = {}, .on_end = [&results, key = r.key](Result mine) {
              results.insert_or_assign(key, std::move(mine));
            }});
  } catch (const redline::PluginError&) {
    return false;
  }
  return true;
}

inline Results run_alone(const Settings& settings, const std::vector<Request>& requests) {
  Engine engine(settings, registry(), quiet);
  redline::trace::NoTrace sink;
  Results results;
  for (const Request& r : requests) {
    REQUIRE(submit(engine, r, results));
    while (engine.iterate(sink)) {
    }
  }
  return results;
}

inline void check_same(const Result& a, const Result& b) {
  CHECK(a.error == b.error);
  CHECK(a.tokens == b.tokens);
  CHECK(a.logprobs == b.logprobs);
  CHECK(a.margins == b.margins);
  CHECK(a.alternatives == b.alternatives);
  CHECK(a.text == b.text);
  CHECK(a.finish == b.finish);
  CHECK(a.n_prompt == b.n_prompt);
  CHECK(a.counts == b.counts);
  CHECK(a.drafted_per_step == b.drafted_per_step);
  CHECK(a.accepted_per_step == b.accepted_per_step);
}

}  // namespace tests
