// SPDX-License-Identifier: Apache-2.0
#include "config/value.hpp"

#include <catch2/catch.hpp>
#include <functional>

using namespace redline;
using Catch::Matchers::Contains;
using config::Value;

namespace {

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no InputError";
}
Value parsed(std::string_view yaml) { return config::parse(yaml, "t.yaml"); }

}  // namespace

TEST_CASE("A value remembers its file and line") {
  const Value root = parsed("a: 1\nb:\n  - x\n  - {c: 'd'}\n");
  CHECK(root.at("a").where == "t.yaml:1");
  CHECK(root.at("b").items[1].at("c").where == "t.yaml:4");
  CHECK(root.at("b").items[1].at("c").quoted);
  CHECK(root.find("z") == nullptr);
}

TEST_CASE("A second key of the same name is an error that names both lines") {
  const std::string why = message_of([] { parsed("a: 1\nb: 2\na: 3\n"); });
  CHECK_THAT(why, Contains("t.yaml:3") && Contains("'a'") && Contains("t.yaml:1"));
  CHECK_NOTHROW(parsed("x: {a: 1}\ny: {a: 2}\n"));
}

TEST_CASE("A number with a leading zero is an error unless it is quoted") {
  for (const char* number : {"012", "-012", "+00", "007.5", "08"})
    CHECK_THAT(message_of([&] { parsed("k: 1\na: " + std::string(number)); }),
               Contains("t.yaml:2") && Contains("zero"));
  CHECK(parsed("a: '012'").at("a").text() == "012");
  for (const char* fine : {"0", "0.5", "-0.5", "10", "0x1f"})
    CHECK_NOTHROW(parsed("a: " + std::string(fine)));
}

TEST_CASE("Typed reads say what was wanted and what stands there") {
  const Value root = parsed("n: 12\nx: 0.5\nt: true\ns: '12'\nl: [1]\nempty:\n");
  CHECK(root.at("n").integer(0, 20) == 12);
  CHECK(root.at("x").number(0, 1) == 0.5);
  CHECK(root.at("t").boolean());
  CHECK(parsed("a: 18446744073709551615").at("a").natural() == ~0ULL);
  CHECK_THAT(message_of([&] { root.at("n").integer(0, 10); }),
             Contains("t.yaml:1: 'n' must be a whole number from 0 to 10") && Contains("'12'"));
  CHECK_THAT(message_of([&] { root.at("x").integer(0, 10); }), Contains("'0.5' stands there"));
  CHECK_THAT(message_of([&] { root.at("s").integer(0, 20); }), Contains("whole number"));
  CHECK_THAT(message_of([&] { root.at("x").number(1, 2); }), Contains("from 1 to 2"));
  CHECK_THAT(message_of([&] { root.at("n").boolean(); }), Contains("true or false"));
  CHECK_THAT(message_of([&] { root.at("l").text(); }), Contains("a list stands there"));
  CHECK_THAT(message_of([&] { root.at("empty").text(); }), Contains("nothing stands there"));
  CHECK_THAT(message_of([] { parsed("a: yes").at("a").boolean(); }), Contains("'yes'"));
  CHECK_THAT(message_of([] { parsed("a: nan").at("a").number(0, 1); }), Contains("'nan'"));
}

TEST_CASE("An unknown key names the nearest known one") {
  const Value root = parsed("page_token: 16\n");
  CHECK_THAT(
      message_of([&] { root.only({"page_tokens", "tp"}, "engine"); }),
      Contains("t.yaml:1: 'page_token' is no key of 'engine'; the nearest is 'page_tokens'"));
  CHECK_THAT(message_of([&] { root.only({"a", "b"}, ""); }), Contains("it knows a, b"));
  CHECK_NOTHROW(root.only({"page_token"}, ""));
}

TEST_CASE("The nearest name is near or none") {
  const std::vector<std::string> known{"draft", "dataset", "accept", "seeds"};
  CHECK(config::nearest("drafts", known) == "draft");
  CHECK(config::nearest("datset", known) == "dataset");
  CHECK(config::nearest("zzzzzz", known) == "");
  CHECK(config::nearest("", known) == "");
}

TEST_CASE("Aliases are taken, bombs of them are not") {
  CHECK(parsed("a: &x [1, 2]\nb: *x\n").at("b").items.size() == 2);
  std::string bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string n = std::to_string(i), p = "*a" + std::to_string(i - 1);
    bomb += "a" + n + ": &a" + n + " [" + p;
    for (int k = 0; k < 9; ++k) bomb += ", " + p;
    bomb += "]\n";
  }
  CHECK_THAT(message_of([&] { parsed(bomb); }), Contains("more than"));
  CHECK_THAT(message_of([] { parsed("a: &x [*x]"); }), Contains("t.yaml:1"));
}

TEST_CASE("What is no YAML mapping of texts is an error with its line") {
  CHECK_THAT(message_of([] { parsed("a: 1\nb: [1\n"); }), Contains("t.yaml:"));
  CHECK_THAT(message_of([] { parsed("a: 1\n{x: y}: 2\n"); }), Contains("t.yaml:2"));
  CHECK_THAT(message_of([] { parsed("a: 1\n---\nb: 2\n"); }), Contains("more than one document"));
  CHECK_THAT(message_of([] { parsed(std::string(5000, '[')); }), Contains("t.yaml:1"));
  CHECK_THAT(message_of([] { config::load("/no/such/file.yaml"); }), Contains("no such file"));
  CHECK(!parsed("").exists());
}
