// SPDX-License-Identifier: Apache-2.0
#include "files/model_store.hpp"

#include <cstdlib>

#include <catch2/catch.hpp>
#include <fstream>

#include "files/environment.hpp"
#include "files/temporary_folder.hpp"
#include "redline/error.hpp"

using namespace redline;
using Catch::Contains;
using tests::Environment;

TEST_CASE("the cache folder follows REDLINE_CACHE, then XDG, then the home folder") {
  const Environment home("HOME", "/home/me"), xdg("XDG_CACHE_HOME", "/xdg");
  {
    const Environment chosen("REDLINE_CACHE", "/chosen");
    CHECK(files::cache_folder() == "/chosen");
  }
  const Environment none("REDLINE_CACHE", nullptr);
  CHECK(files::cache_folder() == "/xdg/redline");
  const Environment relative("XDG_CACHE_HOME", "xdg");
  CHECK(files::cache_folder() == "/home/me/.cache/redline");
  const Environment homeless("HOME", nullptr);
  CHECK_THROWS_WITH(files::cache_folder(), Contains("REDLINE_CACHE"));
}

TEST_CASE("the registry knows the three models, each with two kinds of source") {
  const auto models = files::known_models();
  REQUIRE(models.size() == 3);
  std::size_t packages = 0;
  for (const auto& model : models) {
    CHECK(model.sha256.size() == 64);
    CHECK(model.bytes > 90'000'000);
    REQUIRE(model.sources.size() == 2);
    CHECK(model.sources[0].kind == "huggingface");
    CHECK(model.sources[1].kind == "packages");
    packages += model.sources[1].packages.size();
  }
  CHECK(packages == 1 + 6 + 22);
}

TEST_CASE("a model is found by path or by name, and is asked for by the command that fetches it") {
  const tests::TemporaryFolder folder;
  const Environment cache("REDLINE_CACHE", folder.path().c_str());
  std::ofstream(folder / "own.gguf") << "x";
  CHECK(files::locate_model((folder / "own.gguf").string()) == folder / "own.gguf");
  const auto known = files::known_models().front();
  CHECK_THROWS_WITH(files::locate_model(known.name),
                    Contains("redline models fetch " + known.name));
  CHECK_THROWS_WITH(files::locate_model("nope"), Contains("'nope'") && Contains(known.name));
  std::filesystem::create_directories(folder / "models");
  std::ofstream(files::cached_path(known)) << "x";
  CHECK(files::locate_model(known.name) == files::cached_path(known));
}
