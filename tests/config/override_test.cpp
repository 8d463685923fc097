// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "config/value.hpp"

using namespace redline;
using Catch::Matchers::Contains;
using config::Value;

namespace {

std::string after(std::string_view yaml, std::string_view assignment) {
  Value root = config::parse(yaml, "t.yaml");
  config::apply_override(root, assignment);
  return config::to_json(root);
}
std::string refusal(std::string_view yaml, std::string_view assignment) {
  try {
    after(yaml, assignment);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no InputError";
}

}  // namespace

TEST_CASE("Overrides set, add and take away") {
  CHECK(after("a: {b: 1}", "a.b=2") == R"({"a":{"b":2}})");
  CHECK(after("a: {b: 1}", "a.c.d=[x, 1]") == R"({"a":{"b":1,"c":{"d":["x",1]}}})");
  CHECK(after("a: 1", "b={c: 'x=y'}") == R"({"a":1,"b":{"c":"x=y"}})");
  CHECK(after("a: {b: 1}", "+a.c=3") == R"({"a":{"b":1,"c":3}})");
  CHECK(after("a: {b: 1, c: 2}", "~a.b") == R"({"a":{"c":2}})");
  CHECK(after("a: [{t: 1}, {t: 2}]", "a.1.t=5") == R"({"a":[{"t":1},{"t":5}]})");
  CHECK(after("a: [1, 2, 3]", "~a.1") == R"({"a":[1,3]})");
  CHECK(after("a: ''", "a=''") == R"({"a":""})");
}

TEST_CASE("Overrides that cannot be meant are refused with the text of the override") {
  CHECK_THAT(refusal("a: {b: 1}", "+a.b=2"), Contains("+a.b=2") && Contains("already"));
  CHECK_THAT(refusal("a: {b: 1}", "~a.c"), Contains("no 'a.c'"));
  CHECK_THAT(refusal("a: 1", "a.b=2"), Contains("a.b=2") && Contains("t.yaml:1"));
  CHECK_THAT(refusal("a: [1]", "a.7=2"), Contains("a.7=2"));
  for (const char* odd : {"a", "=1", "a..b=1", ".a=1", "a=[1", "a=012", "a="})
    CHECK_THROWS_AS(after("a: 1", odd), InputError);
  std::string deep = "a";
  for (int i = 0; i < 1000; ++i) deep += ".a";
  CHECK_THROWS_AS(after("b: 1", deep + "=1"), InputError);
}

TEST_CASE("An overridden value answers with the override") {
  Value root = config::parse("a: {b: 1}", "t.yaml");
  config::apply_override(root, "a.b=many");
  CHECK(root.at("a").at("b").where == "command line: a.b=many");
  CHECK(root.at("a").at("b").key == "b");
}

TEST_CASE("A sweep axis is a path and its values") {
  const config::Axis axis = config::parse_axis("length.k=1,2,[3,4]");
  CHECK(axis.path == "length.k");
  REQUIRE(axis.values.size() == 3);
  CHECK(axis.values[1].integer(0, 9) == 2);
  CHECK(axis.values[2].items.size() == 2);
  CHECK_THROWS_AS(config::parse_axis("length.k="), InputError);
  CHECK_THROWS_AS(config::parse_axis("length.k"), InputError);
}
