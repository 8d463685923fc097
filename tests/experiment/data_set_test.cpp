// SPDX-License-Identifier: Apache-2.0
#include "experiment/data_set.hpp"

#include <catch2/catch.hpp>

#include "experiment/scratch.hpp"

using namespace redline;
using namespace redline::experiment;
using Catch::Matchers::Contains;

namespace {

std::vector<Item> load(const std::string& text, std::int64_t offset = 0, std::int64_t limit = 0) {
  const Scratch scratch;
  scratch.write("d.jsonl", text);
  return load_data_set({scratch / "d.jsonl", "d", offset, limit, ""});
}
std::string refusal(const std::string& text, std::int64_t offset = 0) {
  try {
    load(text, offset);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no InputError";
}
constexpr auto kThree =
    "{\"id\":1,\"category\":\"a\",\"prompt\":\"x\"}\n\n"
    "{\"id\":\"two\",\"messages\":[{\"role\":\"system\",\"content\":\"s\"},"
    "{\"role\":\"user\",\"content\":\"\\ud83d\\ude00\"}]}\n"
    "{\"id\":3,\"prompt\":\"z\",\"reference\":[1]}";

}  // namespace

TEST_CASE("A data set gives its items in order, with their place") {
  const std::vector<Item> items = load(kThree);
  REQUIRE(items.size() == 3);
  CHECK(items[0].question == 1);
  CHECK(items[0].category == "a");
  CHECK(items[1].where == "d.jsonl:3");
  CHECK(items[1].messages[1].content == "😀");
  CHECK(items[1].question == load(kThree)[1].question);
  CHECK(items[2].prompt == "z");
}

TEST_CASE("Offset and limit cut the set after it was checked") {
  CHECK(load(kThree, 1, 1).at(0).id == "two");
  CHECK(load(kThree, 0, 99).size() == 3);
  CHECK_THAT(refusal(kThree, 3), Contains("holds 3 items") && Contains("offset 3"));
}

TEST_CASE("A line that is no item is an error with file and line") {
  const std::string good = "{\"id\":1,\"prompt\":\"x\"}\n";
  CHECK_THAT(refusal(good + "{\"id\":2"), Contains("d.jsonl:2") && Contains("JSON"));
  CHECK_THAT(refusal(good + "[]"), Contains("d.jsonl:2"));
  CHECK_THAT(refusal(good + "{\"prompt\":\"x\"}"), Contains("d.jsonl:2") && Contains("'id'"));
  CHECK_THAT(refusal(good + "{\"id\":1,\"prompt\":\"y\"}"),
             Contains("d.jsonl:2") && Contains("d.jsonl:1"));
  CHECK_THAT(refusal("{\"id\":1}"), Contains("messages"));
  CHECK_THAT(refusal("{\"id\":1,\"prompt\":\"\"}"), Contains("empty"));
  CHECK_THAT(refusal("{\"id\":1,\"prompt\":\"a\",\"messages\":[]}"), Contains("either"));
  CHECK_THAT(refusal("{\"id\":1,\"messages\":[{\"role\":\"bot\",\"content\":\"\"}]}"),
             Contains("'bot'"));
  CHECK_THAT(refusal("{\"id\":1,\"messages\":[{\"role\":\"assistant\",\"content\":\"\"}]}"),
             Contains("user's message"));
  CHECK_THAT(refusal("{\"id\":1,\"messages\":[{\"role\":\"user\"}]}"), Contains("'content'"));
}

TEST_CASE("No item is taken twice over all sets") {
  const Scratch scratch;
  scratch.write("d.jsonl", kThree);
  const DataSetChoice choice{scratch / "d.jsonl", "d", 0, 0, ""};
  CHECK_THROWS_WITH(load_items({choice, choice}), Contains("taken twice"));
  DataSetChoice other = choice;
  other.name = "e";
  CHECK(load_items({choice, other}).size() == 6);
}

TEST_CASE("References are kept where they are compared, and missed where one lacks") {
  const Scratch scratch;
  scratch.write("d.jsonl",
                "{\"id\":1,\"prompt\":\"x\",\"reference\":{\"a\":1}}\n"
                "{\"id\":2,\"prompt\":\"y\"}\n");
  DataSetChoice choice{scratch / "d.jsonl", "d", 0, 1, ""};
  CHECK(load_data_set(choice).at(0).reference.empty());
  choice.score = "json_fields";
  CHECK_THROWS_WITH(load_data_set(choice), Contains("d.jsonl:2") && Contains("no 'reference'"));
  scratch.write("d.jsonl", "{\"id\":1,\"prompt\":\"x\",\"reference\":{\"a\":1}}\n");
  CHECK(load_data_set(choice).at(0).reference == "{\"a\":1}");
}
