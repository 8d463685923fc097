// SPDX-License-Identifier: Apache-2.0
#include "trace/schema.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <sstream>

#include "trace/events.hpp"

using namespace redline::trace;

TEST_CASE("Every column says what it holds, once") {
  std::set<std::string> paths;
  for (const schema::TableView& table : schema::tables()) {
    CHECK_FALSE(table.facts.description.empty());
    for (const schema::Column& column : table.columns) {
      INFO(table.facts.path << "/" << column.name);
      CHECK_FALSE(column.notes.description.empty());
      CHECK(paths.insert(std::string(table.facts.path) + "/" + std::string(column.name)).second);
    }
  }
}

TEST_CASE("Every event code has its own name") {
  const std::set<std::string_view> names(kEventNames.begin(), kEventNames.end());
  CHECK(names.size() == kEventNames.size());
  CHECK(kEventNames[static_cast<std::size_t>(Event::DOWNGRADED)] == "downgraded");
  CHECK(kEventNames[static_cast<std::size_t>(Event::OLD_FORMAT)] == "old_format");
}

TEST_CASE("docs/traces.md holds the schema as it is; `redline trace schema` prints it anew") {
  std::ifstream file(REDLINE_SOURCE "/docs/traces.md");
  std::stringstream text;
  text << file.rdbuf();
  CHECK(text.str().find(schema::markdown()) != std::string::npos);
}
