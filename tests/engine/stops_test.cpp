// SPDX-License-Identifier: Apache-2.0
#include "engine/stops.hpp"

#include <catch2/catch.hpp>

#include "engine/tiny.hpp"

namespace {

using namespace redline;
using trace::FinishReason;

// Bytes are tokens in a tiny model: the text is what the ids say.
struct Walk {
  explicit Walk(engine::Request r) : request(std::move(r)) {}
  std::optional<FinishReason> feed(std::string_view text, std::int32_t max_model_len = 100) {
    if (!stops) stops.emplace(request, tests::tiny_tokenizer(), max_model_len);
    std::optional<FinishReason> reason;
    for (char c : text)
      if (!reason) reason = stops->push(*tests::tiny_tokenizer().find(std::string_view(&c, 1)));
    return reason;
  }
  engine::Request request;
  std::optional<engine::Stops> stops;
};

TEST_CASE("the stop string that comes first wins and cuts the text") {
  Walk walk({.prompt = {1}, .stop_strings = {"lo w", "hello"}});
  CHECK(walk.feed("hello world") == FinishReason::STOP);
  CHECK(walk.stops->text() == "");
}

TEST_CASE("a stop string across calls is met") {
  Walk walk({.prompt = {1}, .stop_strings = {"lo w"}});
  CHECK_FALSE(walk.feed("hello"));
  CHECK(walk.feed(" world") == FinishReason::STOP);
  CHECK(walk.stops->text() == "hel");
}

TEST_CASE("a stop token wins over the length it coincides with") {
  const Token stop = *tests::tiny_tokenizer().find("b");
  Walk walk({.prompt = {1}, .max_tokens = 2, .stop_tokens = {stop}});
  CHECK(walk.feed("abc") == FinishReason::STOP);
}

TEST_CASE("max_tokens is exact") {
  for (int limit = 1; limit < 9; ++limit) {
    Walk walk({.prompt = {1}, .max_tokens = limit});
    CHECK_FALSE(walk.feed(std::string(limit - 1, 'x')));
    CHECK(walk.feed("x") == FinishReason::LENGTH);
  }
}

TEST_CASE("a full context ends a request before max_tokens does") {
  Walk walk({.prompt = {1, 2, 3}, .max_tokens = 50});
  CHECK_FALSE(walk.feed("abc", 7));
  CHECK(walk.feed("d") == FinishReason::CONTEXT);
}

TEST_CASE("the model's own ends are stops unless they are ignored") {
  const auto& tokenizer = tests::tiny_tokenizer();
  REQUIRE(tokenizer.eos());
  CHECK(std::ranges::binary_search(engine::stop_tokens({}, tokenizer), *tokenizer.eos()));
  CHECK(engine::stop_tokens({.ignore_eos = true}, tokenizer).empty());
}

}  // namespace
