// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <limits>

#include "config/value.hpp"

using namespace redline;
using config::Value;

TEST_CASE("Canonical JSON sorts keys and writes each number in one form") {
  const Value root = config::parse(
      "b: 0.80\na: [1, true, null, 'x\"y', 1e3]\nc: {z: '12', y: .inf}\nd: +5\n", "t");
  CHECK(config::to_json(root) ==
        R"({"a":[1,true,null,"x\"y",1000],"b":0.8,"c":{"y":".inf","z":"12"},"d":5})");
}

TEST_CASE("What is written reads back as the same value") {
  Value root = Value::map();
  root.put("text", Value::of("line\nbreak\ttab \x01 \"quotes\" \\ é 😀 012"));
  root.put("number", Value::of(0.1)).put("big", Value::of(~0ULL)).put("no", Value::of(false));
  root.put("list", Value::list_of({Value::of(1), Value::of("1"), Value::map(), Value{}}));
  root.put("odd key: x", Value::map().put("inner", Value::list_of({})));
  root.put("nan", Value::of(std::numeric_limits<double>::quiet_NaN()));
  const std::string json = config::to_json(root);
  CHECK(config::to_json(config::parse_json(json, "t")) == json);
  CHECK(config::to_json(config::parse(json, "t")) == json);  // JSON is YAML too
  CHECK(config::to_json(config::parse_json(config::to_pretty_json(root), "t")) == json);
  CHECK(config::to_json(config::parse(config::to_yaml(root), "t")) == json);
}

TEST_CASE("JSON that is none is an error with its place") {
  for (const char* text : {"", "{", "{\"a\":}", "[1,]", "{} {}", "nul", "'a'", "\"\\ud800\""})
    CHECK_THROWS_AS(config::parse_json(text, "d.jsonl:3"), InputError);
  CHECK_THROWS_AS(config::parse_json(std::string(100000, '['), "d"), InputError);
  CHECK(config::parse_json("\"\\ud83d\\ude00\"", "t").text() == "😀");
}
