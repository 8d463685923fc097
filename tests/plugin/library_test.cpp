// SPDX-License-Identifier: Apache-2.0
// The three gates, and what each refusal tells the user.
#include "plugin/library.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "scratch.hpp"

namespace fs = std::filesystem;
using redline::plugin::open_library;

namespace {

const fs::path kFiles = REDLINE_TEST_FILES;

std::string refusal(const fs::path& file) {
  try {
    open_library(file);
  } catch (const redline::PluginError& e) {
    return e.what();
  }
  return "not refused";
}
std::string named(const char* file, const std::string& why) {
  return (kFiles / file).string() + ": " + why;
}

}  // namespace

TEST_CASE("a good plugin opens and tells where it came from") {
  const auto library = open_library(kFiles / "sample_plugin.so");
  REQUIRE(library.entries.size() == 2);
  CHECK(library.entries[0].name == "test_everything");
  CHECK(library.from.path == kFiles / "sample_plugin.so");
  CHECK(library.from.sha256.size() == 64);
  CHECK(library.from.build_tag == redline::plugin::text_of({}));
  CHECK(open_library(kFiles / "sample_plugin.so").entries.data() == library.entries.data());
}

TEST_CASE("the digest is SHA-256 of the file's bytes") {
  const Scratch scratch;
  const fs::path copy = scratch.copy(kFiles / "sample_plugin.so", "copy.so");
  CHECK(open_library(copy).from.sha256 == open_library(kFiles / "sample_plugin.so").from.sha256);
}

TEST_CASE("gate 1: an older entry is refused before the file is opened") {
  CHECK(refusal(kFiles / "older_api.so") ==
        named("older_api.so",
              "offers redline_plugin_v0, this redline wants redline_plugin_v1: built against "
              "another version; rebuild it against this install"));
}

TEST_CASE("gate 1: a library without an entry is no plugin") {
  CHECK(refusal(kFiles / "no_entry.so") ==
        named("no_entry.so",
              "is a shared library but shows no redline_plugin_v1: no plugin; end its source with "
              "REDLINE_PLUGIN(...)"));
}

TEST_CASE("gate 1: what is no library is refused, whole or cut short") {
  const Scratch scratch;
  const fs::path garbage = scratch.path() / "garbage.so", cut = scratch.path() / "cut.so";
  std::ofstream(garbage) << "not an object";
  const std::string why = ": is not a shared library; give the .so that redline_add_plugin builds";
  CHECK(refusal(garbage) == garbage.string() + why);
  std::ofstream(scratch.path() / "empty.so");
  CHECK(refusal(scratch.path() / "empty.so") == (scratch.path() / "empty.so").string() + why);
  fs::copy_file(kFiles / "sample_plugin.so", cut);
  for (auto size = fs::file_size(cut) / 2; size > 0; size /= 3) {
    fs::resize_file(cut, size);
    CHECK(refusal(cut) != "not refused");
  }
}

TEST_CASE("gate 2: stale types are refused by name on opening") {
  CHECK(refusal(kFiles / "stale_type.so") ==
        named("stale_type.so",
              "needs redline::v0::renamed(), which this redline does not have: built against other "
              "types; rebuild it against this install"));
}

TEST_CASE("gate 3: another build is refused with both tags") {
  CHECK(refusal(kFiles / "other_tag.so") ==
        named("other_tag.so",
              "was built with api 1, gcc 11, string abi 1, debug iterators 0; this "
              "redline with " +
                  redline::plugin::text_of({}) + "; rebuild it against this install"));
}

TEST_CASE("gate 3: an entry that cannot be made is refused") {
  CHECK(refusal(kFiles / "not_whole.so") ==
        named("not_whole.so",
              "entry 'hollow' is not whole; make entries with redline::entry<T>(name, about)"));
}

TEST_CASE("a missing file, a folder and a file anyone may write are refused") {
  const Scratch scratch;
  CHECK(refusal(kFiles / "none.so") ==
        named("none.so", "no such file; give the path of a plugin's .so"));
  CHECK(refusal(scratch.path()) ==
        scratch.path().string() + ": is no regular file; give the path of a .so");
  const fs::path open = scratch.copy(kFiles / "sample_plugin.so", "open.so");
  fs::permissions(open, fs::perms::others_write, fs::perm_options::add);
  CHECK(refusal(open) == open.string() +
                             ": anyone may write to it, and opening it runs its code with your "
                             "rights; run chmod o-w on it");
}
