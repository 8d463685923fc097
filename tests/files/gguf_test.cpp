// SPDX-License-Identifier: Apache-2.0
#include "files/gguf.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "files/sha256.hpp"
#include "files/small_gguf.hpp"
#include "files/temporary_folder.hpp"
#include "files/tensor_type.hpp"

using namespace redline;
using namespace redline::tests;
using Catch::Contains;
using files::Gguf;

namespace {

std::string refusal(const Bytes& bytes) {
  try {
    Gguf::of_bytes(bytes, "f.gguf");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no refusal";
}

// Empty if the refusal of these bytes says all of `words`, else what it says.
std::string unsaid(const Bytes& bytes, std::initializer_list<std::string_view> words) {
  const std::string said = refusal(bytes);
  for (const std::string_view word : words)
    if (said.find(word) == std::string::npos) return said;
  return "";
}

// Of a key: type, value. Of a tensor: dimensions, extents, type, offset.
std::size_t after_name(const Bytes& bytes, std::string_view name) {
  return find_text(bytes, name) + name.size();
}

}  // namespace

TEST_CASE("a file reads back as it was written") {
  const Gguf file = Gguf::of_bytes(small_gguf(), "f.gguf");
  CHECK(file.text("general.architecture") == "llama");
  CHECK(file.integer("a.unsigned") == 7);
  CHECK(file.integer("a.large") == std::int64_t{1} << 40);
  CHECK(file.integer("a.signed") == -3);
  CHECK(file.number("a.real") == 0.5);
  CHECK(file.number("a.unsigned") == 7);
  CHECK(file.boolean("a.truth"));
  CHECK(file.texts("a.texts").size() == 3);
  CHECK(file.texts("a.texts")[1] == "two");
  CHECK(file.integers("a.numbers") == std::vector<std::int64_t>{1, -2, 3});
  CHECK(file.numbers("a.reals") == std::vector<double>{0.25, 4});
  CHECK(std::get<std::vector<bool>>(*file.find("a.truths")) == std::vector<bool>{true, false});
  REQUIRE(file.tensors().size() == 3);
  const files::Tensor& q4 = file.tensor("q4_0");
  CHECK(q4.type == files::TensorType::Q4_0);
  CHECK(q4.cols() == 64);
  CHECK(q4.rows() == 2);
  CHECK(q4.bytes.size() == 72);
  CHECK(q4.bytes.front() == std::byte{2});
  CHECK(q4.bytes.back() == std::byte{2});
  CHECK(file.tensor("q6_k").bytes.back() == std::byte{3});
  CHECK(file.tensor("q6_k").rows() == 1);
  CHECK(file.header_sha256() == files::sha256_hex(file.header()));
}

TEST_CASE("a mapped file and its bytes say the same") {
  const TemporaryFolder folder;
  files::GgufWriter writer;
  writer.add("t", files::TensorType::F16, {4}, Bytes(8, std::byte{9}));
  writer.write(folder / "m.gguf");
  Gguf mapped = Gguf::open(folder / "m.gguf");
  Gguf moved = std::move(mapped);
  CHECK(moved.tensor("t").bytes.back() == std::byte{9});
  CHECK(moved.file_bytes() == std::filesystem::file_size(folder / "m.gguf"));
  CHECK(moved.path() == folder / "m.gguf");
}

TEST_CASE("a missing key, a wrong type and a missing tensor are named") {
  const Gguf file = Gguf::of_bytes(small_gguf(), "f.gguf");
  CHECK_THROWS_WITH(file.integer("nope"), Contains("f.gguf") && Contains("'nope' is missing"));
  CHECK(file.integer("nope", 5) == 5);
  CHECK_THROWS_WITH(file.integer("a.truth", 5), Contains("is a truth value; it must be a whole"));
  CHECK_THROWS_WITH(file.integer("a.real"), Contains("whole number"));
  CHECK_THROWS_WITH(file.texts("a.numbers"), Contains("must be a list of strings"));
  CHECK_THROWS_WITH(file.integers("a.reals"), Contains("not a whole one"));
  CHECK_THROWS_WITH(file.tensor("w"), Contains("'w' is missing among 3 tensors"));
}

TEST_CASE("files that are not files are refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(Gguf::open(folder / "none"), Contains("none") && Contains("No such file"));
  CHECK_THROWS_WITH(Gguf::open(folder.path()), Contains("not a regular file"));
  std::ofstream(folder / "empty");
  CHECK_THROWS_WITH(Gguf::open(folder / "empty"), Contains("not a GGUF file"));
}

TEST_CASE("versions and byte orders redline does not read are refused by number") {
  const Bytes good = small_gguf();
  CHECK(refusal(with<std::uint32_t>(good, 4, 2)) == "no refusal");
  CHECK(unsaid(with<std::uint32_t>(good, 4, 1), {"version 1;"}) == "");
  CHECK(unsaid(with<std::uint32_t>(good, 4, 4), {"version 4;"}) == "");
  CHECK(unsaid(with<std::uint32_t>(good, 4, 0x03000000), {"big-endian"}) == "");
  CHECK(unsaid(with<char>(good, 0, 'g'), {"not a GGUF file"}) == "");
}

TEST_CASE("lying counts and lengths are refused with both numbers") {
  const Bytes good = small_gguf();
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  CHECK(unsaid(with(good, 8, kHuge), {"the list of tensors"}) == "");
  CHECK(unsaid(with(good, 16, kHuge), {"the list of keys"}) == "");
  CHECK(unsaid(with(good, 24, kHuge), {"a key's name"}) == "");
  const std::size_t texts = after_name(good, "a.texts");  // array type, item type, length
  CHECK(unsaid(with(good, texts + 8, kHuge), {"'a.texts'", "an array"}) == "");
  CHECK(unsaid(with(good, texts + 8, kHuge / 8 + 2), {"an array"}) == "");
  CHECK(unsaid(with(good, texts + 16, kHuge), {"a string"}) == "");
  CHECK(unsaid(with<std::uint32_t>(good, texts + 4, 9), {"array inside an array"}) == "");
  CHECK(unsaid(with<std::uint32_t>(good, texts, 77), {"unknown type 77"}) == "");
  CHECK(unsaid(with<char>(good, after_name(good, "a.truth") + 4, 2), {"not 2"}) == "");
}

TEST_CASE("lying tensors are refused by name") {
  const Bytes good = small_gguf();
  const std::size_t f32 = after_name(good, "f32"), q4 = after_name(good, "q4_0");
  CHECK(unsaid(with<std::uint32_t>(good, f32, 5), {"'f32'", "5 dim"}) == "");
  CHECK(unsaid(with<std::uint32_t>(good, f32, 0), {"0 dimensions"}) == "");
  CHECK(unsaid(with<std::int64_t>(good, f32 + 4, -1), {"a dimension of -1"}) == "");
  CHECK(unsaid(with<std::int64_t>(good, f32 + 4, 0), {"a dimension of 0"}) == "");
  CHECK(unsaid(with(good, f32 + 4, std::int64_t{1} << 62), {"more than 2^50"}) == "");
  CHECK(unsaid(with<std::int64_t>(good, q4 + 4, 63), {"Q4_0 blocks of 32"}) == "");
  CHECK(unsaid(with<std::uint64_t>(good, q4 + 24, 64), {"begin at 64", "end at 32"}) == "");
  CHECK(unsaid(with<std::int64_t>(good, after_name(good, "q6_k") + 4, 1 << 20),
               {"'q6_k'", "needs 860160 bytes"}) == "");
}

TEST_CASE("an unknown tensor type is refused naming tensor, type and the known ones") {
  const Bytes good = small_gguf();
  const std::size_t type = after_name(good, "f32") + 4 + 16;
  CHECK(unsaid(with<std::uint32_t>(good, type, 10),
               {"tensor 'f32'", "Q2_K (10)", "F32, F16, BF16, Q4_0"}) == "");
  CHECK(unsaid(with<std::uint32_t>(good, type, 1234), {"number 1234"}) == "");
}

TEST_CASE("a key or tensor that appears twice is refused") {
  const Bytes good = small_gguf();
  const std::size_t reals = find_text(good, "a.reals");
  Bytes twin = good;
  std::memcpy(twin.data() + reals, "a.texts", 7);
  CHECK(unsaid(twin, {"key 'a.texts': appears twice"}) == "");
  twin = good;
  std::memcpy(twin.data() + find_text(good, "q6_k"), "q4_0", 4);
  CHECK(unsaid(twin, {"tensor 'q4_0': appears twice"}) == "");
}

TEST_CASE("split files and odd alignments are refused by name") {
  const auto with_key = [](const std::string& key, std::uint64_t value) {
    files::GgufWriter writer;
    writer.set(key, value);
    return bytes_of(writer);
  };
  CHECK(unsaid(with_key("split.count", 3), {"split into 3 files"}) == "");
  CHECK(refusal(with_key("split.count", 1)) == "no refusal");
  CHECK(unsaid(with_key("general.alignment", 0), {"is 0;"}) == "");
  CHECK(unsaid(with_key("general.alignment", 48), {"power of two"}) == "");
  CHECK(unsaid(with_key("general.alignment", 1ULL << 63), {"power of two"}) == "");
  CHECK(refusal(with_key("general.alignment", 64)) == "no refusal");
}

TEST_CASE("a file cut at any byte is refused, never read past its end") {
  const Bytes good = small_gguf();
  const std::size_t data_end = good.size() - 14;  // the last tensor is padded from 210 to 224
  for (std::size_t length = 0; length < data_end; ++length) {
    // A buffer of exactly that size, so that the address sanitizer sees one byte too many.
    const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
    INFO("cut at " << length);
    CHECK(refusal(cut) != "no refusal");
  }
  CHECK(refusal(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(data_end))) ==
        "no refusal");
}

TEST_CASE("the writer refuses bytes that do not fit type and shape") {
  files::GgufWriter writer;
  CHECK_THROWS_WITH(writer.add("t", files::TensorType::F32, {2}, Bytes(7)),
                    Contains("take 8 bytes, 7 are given"));
  CHECK_THROWS_WITH(writer.add("t", files::TensorType::Q4_0, {31}, Bytes(18)),
                    Contains("blocks of 32"));
}
