// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include <catch2/catch.hpp>

#include "engine/tiny.hpp"

namespace {

using namespace redline;
using engine::Engine, engine::PluginChoice, engine::Request, engine::Settings;
using files::TensorType;

const plugin::Registry& registry() {
  static const plugin::Registry known({}, {});
  return known;
}

Settings settings(PluginChoice draft = {"draft_none", {}},
                  PluginChoice accept = {"accept_match", {}},
                  const std::string& temperature = "0") {
  Settings s;
  s.target = tests::tiny_model();
  s.draft = std::move(draft);
  s.accept = std::move(accept);
  s.sampler = {{"sample_temperature", {{"t", temperature, "test"}}}};
  s.threads = 2;
  s.max_model_len = 256;
  s.cache_folder = tests::tiny_folder();
  return s;
}

PluginChoice draft_model(const std::string& method = "sample", TensorType type = TensorType::Q4_0,
                         std::uint64_t seed = 1) {
  return {"draft_model",
          {{"model", tests::tiny_model(type, seed), "test"}, {"method", method, "test"}}};
}

void quiet(const std::string&) {}

Request request(std::int32_t prompt_tokens = 33, std::int32_t max_tokens = 40) {
  Request r;
  r.key = engine::request_key("test", static_cast<std::uint64_t>(prompt_tokens), 0, 0);
  r.seed = 11;
  for (Token k = 0; k < prompt_tokens; ++k) r.prompt.push_back((k * k * 7 + 3) % 200);
  r.max_tokens = max_tokens;
  r.ignore_eos = true;
  return r;
}

engine::Result run(const Settings& s, const Request& r) {
  trace::NoTrace sink;
  return Engine(s, registry(), quiet).run(r, sink);
}

TEST_CASE("greedy text is the same for every drafter, bit for bit in its logprobs") {
  const auto plain = run(settings(), request());
  REQUIRE(plain.tokens.size() == 40);
  for (const PluginChoice& draft :
       {PluginChoice{"draft_ngram", {}}, draft_model(), draft_model("greedy"),
        draft_model("sample", TensorType::Q4_0, 9)})
    for (const char* rule : {"accept_match", "accept_ratio", "accept_delta"}) {
      INFO(draft.name << " " << rule);
      const auto drafted = run(settings(draft, {rule, {}}), request());
      CHECK(drafted.tokens == plain.tokens);
      CHECK(drafted.logprobs == plain.logprobs);
    }
}

TEST_CASE("drafted text equals plain text with KV in every type, and the type is in force") {
  const auto with = [](kernels::KvType type, PluginChoice draft) {
    Settings s = settings(std::move(draft), {"accept_match", {}}, "0.9");
    s.kv_type = type;
    return s;
  };
  const auto usual = run(with(kernels::KvType::F16, {"draft_none", {}}), request());
  for (const auto type : {kernels::KvType::F32, kernels::KvType::Q8_0}) {
    INFO(kernels::name(type));
    const auto plain = run(with(type, {"draft_none", {}}), request());
    CHECK(plain.logprobs != usual.logprobs);
    for (const PluginChoice& draft :
         {PluginChoice{"draft_ngram", {}}, draft_model(),
          PluginChoice{"draft_tree", {{"model", tests::tiny_model(TensorType::Q4_0), "test"}}}}) {
      INFO(draft.name);
      const auto drafted = run(with(type, draft), request());
      CHECK(drafted.tokens == plain.tokens);
      CHECK(drafted.logprobs == plain.logprobs);
      CHECK(drafted.counts.drafted > 0);
    }
    const Engine engine(with(type, {"draft_none", {}}), registry(), quiet);
    CHECK(engine.attributes().front().values.at(7) ==
          std::pair<std::string, std::string>("kv_dtype", kernels::name(type)));
  }
}

TEST_CASE("sampled text under match and Gumbel equals plain decoding of the same seed") {
  for (const char* rule : {"accept_match", "accept_gumbel"}) {
    const auto plain = run(settings({"draft_none", {}}, {rule, {}}, "0.9"), request());
    const auto drafted = run(settings(draft_model(), {rule, {}}, "0.9"), request());
    INFO(rule);
    CHECK(drafted.tokens == plain.tokens);
    CHECK(drafted.counts.drafted > 0);
  }
}

TEST_CASE(
    "a draft equal to its target is accepted whole at temperature 0, an unrelated one hardly") {
  const auto r = run(settings(draft_model("sample", TensorType::Q8_0)), request());
  CHECK(r.counts.accepted_by_rule == r.counts.drafted);
  CHECK(r.counts.drafted > 20);
  const auto other = run(settings(draft_model("sample", TensorType::Q8_0, 9)), request());
  CHECK(other.counts.accepted_by_rule < other.counts.drafted / 4);
}

TEST_CASE("max_tokens is exact for every draft length") {
  for (int limit = 1; limit <= 9; ++limit)
    for (int depth : {1, 2, 4, 8}) {
      Settings s = settings(draft_model("sample", TensorType::Q8_0));
      s.length = {"length_fixed", {{"max_depth", std::to_string(depth), "test"}}};
      const auto r = run(s, request(20, limit));
      CHECK(r.tokens.size() == static_cast<std::size_t>(limit));
      CHECK(r.counts.emitted == static_cast<std::uint64_t>(limit));
      CHECK(r.finish == trace::FinishReason::LENGTH);
    }
}

TEST_CASE("a request fills its context to the last token") {
  Settings s = settings(draft_model());
  s.max_model_len = 64;
  const auto r = run(s, request(50, 100));
  CHECK(r.tokens.size() == 14);
  CHECK(r.finish == trace::FinishReason::CONTEXT);
}

TEST_CASE("a tree as wide as a forward still fits at the end of the context") {
  Settings s = settings({"draft_tree",
                         {{"model", tests::tiny_model(TensorType::Q4_0), "test"},
                          {"shape", "20;19", "test"},
                          {"method", "top", "test"}}});
  s.length = {"length_fixed", {{"max_depth", "2", "test"}, {"max_nodes", "399", "test"}}};
  s.max_model_len = 64;
  const auto r = run(s, request(50, 100));
  CHECK(r.error == "");
  CHECK(r.tokens.size() == 14);
}

TEST_CASE("one engine serves many requests alike: the last equals the first") {
  Engine engine(settings(draft_model(), {"accept_ratio", {}}, "0.8"), registry(), quiet);
  trace::NoTrace sink;
  const auto first = engine.run(request(), sink);
  for (int k = 0; k < 20; ++k) engine.run(request(17 + k), sink);
  const auto last = engine.run(request(), sink);
  CHECK(last.tokens == first.tokens);
  CHECK(last.accepted_per_step == first.accepted_per_step);
}

TEST_CASE("threads and prefill chunks do not change a bit") {
  const auto one = run(settings(draft_model()), request(90));
  Settings s = settings(draft_model());
  s.threads = 3;
  s.rows_per_step = 17;
  const auto other = run(s, request(90));
  CHECK(other.tokens == one.tokens);
  CHECK(other.logprobs == one.logprobs);
}

TEST_CASE("a cancelled request ends between steps and leaves the engine whole") {
  Engine engine(settings(draft_model()), registry(), quiet);
  trace::NoTrace sink;
  int asked = 0;
  const auto r = engine.run(request(), sink, {}, [&] { return ++asked > 3; });
  CHECK(r.finish == trace::FinishReason::CANCELLED);
  CHECK(engine.run(request(), sink).tokens == run(settings(), request()).tokens);
}

TEST_CASE("tokens are handed on as they are committed") {
  Engine engine(settings(draft_model("sample", TensorType::Q8_0)), registry(), quiet);
  trace::NoTrace sink;
  std::vector<Token> seen;
  std::size_t calls = 0;
  const auto r = engine.run(request(), sink, [&](std::span<const Token> some) {
    seen.insert(seen.end(), some.begin(), some.end());
    ++calls;
  });
  CHECK(seen == r.tokens);
  CHECK(calls == r.times.size());
}

TEST_CASE("too little memory is refused with the table before anything is loaded") {
  Settings s = settings();
  s.memory_utilization = 1e-6;
  std::string said;
  CHECK_THROWS_AS(Engine(s, registry(), [&](const std::string& line) { said += line; }),
                  DeviceError);
  CHECK_THAT(said, Catch::Contains("target weights") && Catch::Contains("allowed"));
}

TEST_CASE("bad requests are refused with the numbers that disagree") {
  Engine engine(settings(), registry(), quiet);
  trace::NoTrace sink;
  CHECK_THROWS_WITH(engine.run(request(0), sink), Catch::Contains("no token"));
  CHECK_THROWS_WITH(engine.run(request(256), sink), Catch::Contains("256"));
  Request outside = request();
  outside.prompt.push_back(engine.vocab());
  CHECK_THROWS_WITH(engine.run(outside, sink), Catch::Contains(std::to_string(engine.vocab())));
}

TEST_CASE("an unknown plugin is refused with the known ones") {
  CHECK_THROWS_WITH(Engine(settings({"draft_modle", {}}), registry(), quiet),
                    Catch::Contains("draft_model"));
}

}  // namespace
