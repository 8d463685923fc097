// SPDX-License-Identifier: Apache-2.0
// Seeded mutations of a small file: a reader that trusts nothing refuses or reads, never crashes.
// The libFuzzer target in tests/fuzz does the same with coverage to guide it.
#include <catch2/catch.hpp>
#include <random>

#include "files/gguf.hpp"
#include "files/small_gguf.hpp"

using namespace redline;
using namespace redline::tests;

namespace {

// Reads all that a file offers; returns a sum so that no read is optimised away.
std::uint64_t read_all(const files::Gguf& file) {
  std::uint64_t sum = file.header().size();
  for (const files::Tensor& tensor : file.tensors()) {
    for (const std::byte byte : tensor.bytes) sum += static_cast<std::uint64_t>(byte);
    sum += static_cast<std::uint64_t>(tensor.rows() * tensor.cols());
  }
  return sum;
}

bool accepts(const Bytes& bytes) {
  try {
    read_all(files::Gguf::of_bytes(bytes, "f.gguf"));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

Bytes mutate(Bytes bytes, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return random() % n; };
  const std::size_t edits = 1 + below(4);
  for (std::size_t edit = 0; edit < edits && bytes.size() > 16; ++edit) {
    const std::size_t at = below(bytes.size() - 8);
    constexpr std::uint64_t kOdd[] = {0, 1, 0x7F, 0xFFFF, 1ULL << 31, 1ULL << 63, ~0ULL, ~0ULL - 7};
    switch (below(5)) {
      case 0:
        bytes[at] ^= static_cast<std::byte>(1 << below(8));
        break;
      case 1:
        bytes[at] = static_cast<std::byte>(random());
        break;
      case 2:
        bytes = with(std::move(bytes), at, kOdd[below(std::size(kOdd))]);
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(at));
        break;
    }
  }
  return bytes;
}

}  // namespace

TEST_CASE("twenty thousand mutations are refused or read, none crashes") {
  const Bytes good = small_gguf();
  std::mt19937 random(20240607);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) accepted += accepts(mutate(good, random)) ? 1 : 0;
  CHECK(accepted > 100);    // some edits only change values or tensor data
  CHECK(accepted < 19000);  // and many must be noticed
}

TEST_CASE("every single flipped bit is refused or read, none crashes") {
  const Bytes good = small_gguf();
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes flipped = good;
    flipped[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
    accepts(flipped);
  }
  CHECK(accepts(good));
}
