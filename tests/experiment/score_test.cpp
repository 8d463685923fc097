// SPDX-License-Identifier: Apache-2.0
#include "experiment/score.hpp"

#include <catch2/catch.hpp>
#include <random>

using namespace redline::experiment;

namespace {

constexpr auto kReference = R"({"ticker": "HLXR", "target_price": 84})";

std::string random_text(std::mt19937& random) {
  static constexpr std::string_view kPieces[] = {
      "{",    "}",      "\"",           "\\",   ":",         ",",     "[", "]", "1e999",
      "null", "ticker", "\"ticker\": ", "\xff", "```json\n", "\\u12", " ", "84"};
  std::string text;
  for (std::uint32_t n = random() % 40; n > 0; --n) text += kPieces[random() % std::size(kPieces)];
  return text;
}

}  // namespace

TEST_CASE("A score is the share of the reference's fields that are right") {
  CHECK(score_json_fields(kReference, R"({"ticker": "HLXR", "target_price": 84})") == 1);
  CHECK(score_json_fields(kReference, R"({"ticker": "HLXR", "target_price": 71})") == .5);
  CHECK(score_json_fields(kReference, R"({"ticker": "HLXR"})") == .5);
  CHECK(score_json_fields(kReference, "{}") == 0);
  CHECK(score_json_fields(kReference, R"({"target_price": 84, "ticker": "HLXR", "more": 1})") == 1);
}

TEST_CASE("Numbers count by value, texts without the space around them, types never mix") {
  CHECK(score_json_fields(kReference, R"({"ticker": " HLXR\n", "target_price": 84.0})") == 1);
  CHECK(score_json_fields(kReference, R"({"ticker": "HLXR", "target_price": 8.4e1})") == 1);
  CHECK(score_json_fields(kReference, R"({"ticker": "HLXR", "target_price": "84"})") == .5);
  CHECK(score_json_fields(R"({"a": null})", R"({"a": null})") == 1);
  CHECK(score_json_fields(R"({"a": null})", R"({"a": 0})") == 0);
  CHECK(score_json_fields(R"({"a": null})", "{}") == 0);
  CHECK(score_json_fields(R"({"a": true})", R"({"a": 1})") == 0);
}

TEST_CASE("Nested fields count one by one, lists as a whole") {
  constexpr auto kNested = R"({"a": {"b": 1, "c": {"d": "x"}}, "e": [1, {"f": 2}]})";
  CHECK(score_json_fields(kNested, kNested) == 1);
  CHECK(score_json_fields(kNested, R"({"a": {"b": 1, "c": "x"}, "e": [1, {"f": 2.0}]})") ==
        Approx(2. / 3));
  CHECK(score_json_fields(kNested, R"({"a": 1, "e": [1]})") == 0);
}

TEST_CASE("The first object is found behind prose, in a fence, and past braces that open none") {
  CHECK(first_json_object("Here: ```json\n{\"a\": 1}\n``` and {\"b\": 2}") == "{\"a\": 1}");
  CHECK(first_json_object("set {x} is {\"a\": {\"b\": \"}{\\\"\"}}!") == R"({"a": {"b": "}{\""}})");
  CHECK(first_json_object("{\"a\": {\"b\": 1}") == "{\"b\": 1}");
  CHECK(first_json_object("no object").empty());
  CHECK(first_json_object("{\"a\": \"never closed").empty());
  CHECK(first_json_object("").empty());
}

TEST_CASE("Garbage scores, and never more than all") {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = random_text(random);
    const double score = score_json_fields(kReference, text);
    REQUIRE((score >= 0 && score <= 1));
  }
  CHECK(score_json_fields(kReference, std::string(100'000, '{')) == 0);
  CHECK(score_json_fields(kReference, std::string(5'000, '[') + "{\"a\":") == 0);
}
