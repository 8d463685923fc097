// SPDX-License-Identifier: Apache-2.0
// Known answers: FIPS 180-4's examples.
#include "files/sha256.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "files/temporary_folder.hpp"
#include "redline/error.hpp"

using namespace redline;

TEST_CASE("hashes are those of the standard") {
  files::Sha256 hash;
  hash.add("a");
  hash.add("bc");
  CHECK(hash.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(files::sha256_hex({}) ==
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("a file hashes as its bytes do and tells its progress") {
  const tests::TemporaryFolder folder;
  const std::string text(3'000'000, 'x');
  std::ofstream(folder / "f") << text;
  std::uint64_t last = 0;
  CHECK(files::sha256_file(folder / "f", [&](std::uint64_t done) { last = done; }) ==
        files::sha256_hex(std::as_bytes(std::span(text))));
  CHECK(last == text.size());
  CHECK_THROWS_AS(files::sha256_file(folder / "none"), InputError);
}
