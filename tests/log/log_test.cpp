// SPDX-License-Identifier: Apache-2.0
#include "log/log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "redline/error.hpp"

namespace logging = redline::logging;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("redline_log_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    logging::close_file();
    fs::remove_all(path_);
  }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string text_of(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// What `work` writes to stderr.
std::string stderr_of(const Folder& folder, const std::function<void()>& work) {
  const auto path = folder / "stderr";
  const int kept = ::dup(STDERR_FILENO);
  const int file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  ::dup2(file, STDERR_FILENO);
  work();
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  ::close(file);
  return text_of(path);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

// First in this file: the log reads REDLINE_LOG (here "loud") at its first use.
TEST_CASE("An unknown REDLINE_LOG is said, with the known names, and warn stays") {
  const Folder folder;
  const auto text = stderr_of(folder, [] {
    logging::info("unseen");
    logging::warn("seen");
  });
  CHECK(holds(text, "REDLINE_LOG is 'loud', none of debug, info, warn, error, off"));
  CHECK(holds(text, "redline: warning: seen\n"));
  CHECK_FALSE(holds(text, "unseen"));
}

TEST_CASE("show sets the least severe level that reaches stderr") {
  const Folder folder;
  const auto text = stderr_of(folder, [] {
    logging::show(logging::Level::kError);
    logging::warn("a warning");
    logging::error("a fault");
    logging::show(logging::Level::kOff);
    logging::error("said to no one");
  });
  logging::show(logging::Level::kWarn);
  CHECK(text == "redline: error: a fault\n");
}

TEST_CASE("An opened file gets info and above with a UTC time, flushed at once") {
  const Folder folder;
  logging::open_file(folder / "run.log");
  stderr_of(folder, [] {
    logging::debug("detail");
    logging::info("braces {} are text");
    logging::warn("careful");
  });
  const auto text = text_of(folder / "run.log");
  CHECK(holds(text, "Z info: braces {} are text\n"));
  CHECK(holds(text, "Z warning: careful\n"));
  CHECK_FALSE(holds(text, "detail"));
}

TEST_CASE("A second file replaces the first, and a file opened again is appended to") {
  const Folder folder;
  logging::open_file(folder / "one");
  logging::info("1");
  logging::open_file(folder / "two");
  logging::info("2");
  logging::open_file(folder / "one");
  logging::info("3");
  CHECK_FALSE(holds(text_of(folder / "one"), "info: 2"));
  CHECK(holds(text_of(folder / "one"), "info: 1\n"));
  CHECK(holds(text_of(folder / "one"), "info: 3\n"));
  CHECK(holds(text_of(folder / "two"), "info: 2\n"));
}

TEST_CASE("A log file that cannot be written is an input error naming it") {
  const Folder folder;
  std::ofstream(folder / "plain") << "x";
  CHECK_THROWS_WITH(logging::open_file(folder / "plain" / "run.log"),
                    Catch::Contains("cannot write the log file") && Catch::Contains("plain"));
  CHECK_THROWS_AS(logging::open_file(folder / "plain" / "run.log"), redline::InputError);
}

TEST_CASE("Lines of several threads stay whole") {
  const Folder folder;
  logging::open_file(folder / "run.log");
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer)
      writers.emplace_back([] {
        for (int line = 0; line < 200; ++line) logging::info("a whole line");
      });
  }
  std::ifstream file(folder / "run.log");
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines)
    CHECK(line.ends_with("Z info: a whole line"));
  CHECK(lines == 800);
}

TEST_CASE("Level names are exactly five") {
  CHECK(logging::level_named("debug") == logging::Level::kDebug);
  CHECK(logging::level_named("off") == logging::Level::kOff);
  CHECK_FALSE(logging::level_named("verbose").has_value());
  CHECK_FALSE(logging::level_named("").has_value());
}
