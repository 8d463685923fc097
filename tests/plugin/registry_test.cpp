// SPDX-License-Identifier: Apache-2.0
#include "plugin/registry.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "scratch.hpp"

namespace fs = std::filesystem;
using redline::plugin::Arguments;
using redline::plugin::Registry;

namespace {

const fs::path kFiles = REDLINE_TEST_FILES, kBuiltIn = REDLINE_BUILT_IN;

class Bare final : public redline::Host {};

Registry with_sample() {
  Registry r;
  r.load(kFiles / "sample_plugin.so");
  return r;
}
void check(const Arguments& arguments) {
  with_sample().check(redline::Kind::LENGTH, "test_everything", arguments);
}

}  // namespace

TEST_CASE("parameters reach the plugin, and what is in force is told") {
  const Registry r = with_sample();
  const Arguments arguments{{"count", "5", "a"},
                            {"share", "0.5", "b"},
                            {"is_on", "true", "c"},
                            {"label", "x", "d"},
                            {"mode", "fast", "e"}};
  Bare host;
  const auto policy = r.make<redline::DraftLength>("test_everything", arguments, host);
  const redline::Sequence s;
  const redline::Turn turn{s, nullptr};
  const auto budget = policy->choose({&turn, 1}).front();
  CHECK(budget.max_nodes == 5);
  CHECK(budget.max_depth == 50);
  CHECK(policy->name() == "test_everything");

  const auto force = r.effective(redline::Kind::LENGTH, "test_everything", arguments);
  REQUIRE(force.size() == 5);
  CHECK(force[0].fallback == "5");
  CHECK(force[1].fallback == "0.5");
  CHECK(force[2].fallback == "true");
  const auto& declared = r.find("test_everything").parameters;
  CHECK(declared[0].fallback == "3");
  CHECK(declared[0].range == "0 to 8");
  CHECK(declared[1].type == "number");
  CHECK(declared[4].range == "slow | fast");
}

TEST_CASE("a wrong parameter is an error with its place and the right form") {
  CHECK_NOTHROW(check({}));
  CHECK_THROWS_WITH(check({{"cuont", "1", "x.yaml:14"}}),
                    "x.yaml:14: test_everything has no parameter 'cuont'; did you mean 'count'? "
                    "Known: count, share, is_on, label, mode");
  CHECK_THROWS_WITH(check({{"count", "9", "x.yaml:3"}}),
                    "x.yaml:3: test_everything: count is '9', must be an integer from 0 to 8");
  for (const char* wrong : {"1.5", "1 ", " 1", "", "0x1", "one", "1e0", "99999999999"})
    CHECK_THROWS_AS(check({{"count", wrong, "x"}}), redline::InputError);
  for (const char* wrong : {"nan", "inf", "1.01", "-0.1", "0.5f", ""})
    CHECK_THROWS_AS(check({{"share", wrong, "x"}}), redline::InputError);
  CHECK_NOTHROW(check({{"share", "2.5e-1", "x"}}));
  for (const char* wrong : {"yes", "1", "True", ""})
    CHECK_THROWS_WITH(check({{"is_on", wrong, "x"}}), Catch::Contains("must be true or false"));
  CHECK_THROWS_WITH(check({{"mode", "quick", "x"}}), Catch::Contains("must be one of slow | fast"));
  CHECK_THROWS_WITH(check({{"count", "1", "x:1"}, {"count", "2", "x:2"}}),
                    Catch::Contains("'count' was given at x:1 already"));
}

TEST_CASE("an unknown name lists the known ones and where they were looked for") {
  const Scratch scratch;
  const Registry r({kFiles / "sample_plugin.so"}, {scratch.path()});
  CHECK_THROWS_AS(r.find("acept_ratio"), redline::InputError);
  CHECK_THROWS_WITH(r.find("acept_ratio"),
                    Catch::Contains("no plugin 'acept_ratio'; did you mean 'accept_ratio'?") &&
                        Catch::Contains("test_everything") &&
                        Catch::Contains("Looked in: " + scratch.path().string()));
}

TEST_CASE("a plugin of another kind says what is wanted") {
  const Registry r({}, {});
  Bare host;
  CHECK_THROWS_WITH(r.make<redline::Drafter>("accept_ratio", {}, host),
                    Catch::StartsWith("'accept_ratio' is a rule plugin; a drafter is wanted here. "
                                      "Known: draft_model, "));
}

TEST_CASE("a constructor that fails is the plugin's error, with its cause") {
  Bare host;
  const Registry r = with_sample();
  CHECK_THROWS_AS(r.make<redline::Drafter>("test_failing", {}, host), redline::PluginError);
  CHECK_THROWS_WITH(r.make<redline::Drafter>("test_failing", {}, host),
                    "test_failing: could not be made: cannot start");
}

TEST_CASE("a name that is taken is refused on load and reported on search") {
  const Scratch scratch;
  const fs::path twin = scratch.copy(kFiles / "sample_plugin.so", "twin.so");
  Registry r = with_sample();
  CHECK_THROWS_AS(r.load(twin), redline::PluginError);
  CHECK_THROWS_WITH(r.load(twin), twin.string() + ": 'test_everything' is already taken by " +
                                      (kFiles / "sample_plugin.so").string() +
                                      "; rename one of them");

  const Registry found({kFiles / "sample_plugin.so"}, {scratch.path()});
  CHECK(found.find("test_everything").from.path == kFiles / "sample_plugin.so");
  REQUIRE(found.warnings().size() == 2);
  CHECK(found.warnings()[0] == twin.string() + ": 'test_everything' is already taken by " +
                                   (kFiles / "sample_plugin.so").string() +
                                   ", which was found first");
}

TEST_CASE(
    "named files come first, then named folders, then the environment's, then the install's") {
  const Scratch scratch;
  const auto put = [&](const char* as) { return scratch.copy(kFiles / "sample_plugin.so", as); };
  const fs::path named = put("a.so"), folder = put("f/b.so"), environment = put("e/c.so");
  setenv("REDLINE_PLUGIN_PATH", environment.parent_path().c_str(), 1);
  const auto from = [](const Registry& r) { return r.find("test_everything").from.path; };
  CHECK(from(Registry({named}, {folder.parent_path()})) == named);
  CHECK(from(Registry({}, {folder.parent_path()})) == folder);
  CHECK(from(Registry({}, {})) == environment);
  CHECK(Registry({}, {}).find("draft_none").from.path == kBuiltIn / "draft_none.so");
  setenv("REDLINE_PLUGIN_PATH", "e", 1);
  CHECK_THROWS_WITH(Registry({}, {}), Catch::Contains("'e' depends on the working directory"));
  unsetenv("REDLINE_PLUGIN_PATH");
}

TEST_CASE("a bad file is an error when it was named and a warning when it was found") {
  const Scratch scratch;
  std::ofstream(scratch.path() / "bad.so") << "no object";
  CHECK_THROWS_AS(Registry({scratch.path() / "bad.so"}, {}), redline::PluginError);
  const Registry r({}, {scratch.path()});
  REQUIRE(r.warnings().size() == 1);
  CHECK_THAT(r.warnings().front(), Catch::StartsWith("left out: " + scratch.path().string()));
  CHECK_THROWS_AS(Registry({}, {scratch.path() / "none"}), redline::InputError);
}

TEST_CASE("one file found twice is no duplicate") {
  const Registry r({kFiles / "sample_plugin.so"}, {kFiles / "."});
  for (const std::string& w : r.warnings()) CHECK_THAT(w, !Catch::Contains("already taken"));
}
