// SPDX-License-Identifier: Apache-2.0
#include "files/utf8.hpp"

#include <catch2/catch.hpp>

using namespace redline::files;

TEST_CASE("well-formed characters are told from ill-formed parts and from cut ones") {
  const auto is = [](std::string_view text, Utf8Part::Kind kind, std::size_t bytes) {
    const Utf8Part part = first_utf8(text);
    return part.kind == kind && part.bytes == bytes;
  };
  CHECK(is("a", Utf8Part::VALID, 1));
  CHECK(is("\xC3\xA9x", Utf8Part::VALID, 2));
  CHECK(is("\xE2\x82\xAC", Utf8Part::VALID, 3));
  CHECK(is("\xF0\x9F\x99\x82", Utf8Part::VALID, 4));
  CHECK(is("\xF0\x9F\x99", Utf8Part::CUT, 3));
  CHECK(is("\xE2", Utf8Part::CUT, 1));
  CHECK(is("\xE2\x82x", Utf8Part::INVALID, 2));
  CHECK(is("\x80", Utf8Part::INVALID, 1));
  CHECK(is("\xC0\xAF", Utf8Part::INVALID, 1));          // overlong
  CHECK(is("\xE0\x80\xAF", Utf8Part::INVALID, 1));      // overlong
  CHECK(is("\xED\xA0\x80", Utf8Part::INVALID, 1));      // a surrogate
  CHECK(is("\xF4\x90\x80\x80", Utf8Part::INVALID, 1));  // past U+10FFFF
  CHECK(is("\xF5", Utf8Part::INVALID, 1));
}

TEST_CASE("runs cover a text in order") {
  std::string seen;
  for_each_run("ab\xFF\xFE\xC3\xA9z\xE2", [&](std::string_view run, bool valid) {
    seen += (valid ? "+" : "-") + std::to_string(run.size());
  });
  CHECK(seen == "+2-2+3-1");
}

TEST_CASE("foreign text in a message is quoted, escaped and clipped") {
  CHECK(printable("it's\n\x1B\xFF\xC3\xA9") == "'it\\'s\\n\\x1b\\xff\xC3\xA9'");
  CHECK(printable("abcdef", 3) == "'abc...'");
  CHECK(printable("") == "''");
}
