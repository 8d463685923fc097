// SPDX-License-Identifier: Apache-2.0
#include "files/gguf_parse.hpp"

#include <bit>
#include <unordered_set>

#include "files/byte_cursor.hpp"
#include "files/tensor_type.hpp"
#include "files/utf8.hpp"
#include "redline/error.hpp"

namespace redline::files {
namespace {

static_assert(std::endian::native == std::endian::little, "GGUF is read in place, little-endian");

constexpr std::uint32_t kMagic = 0x46554747;       // "GGUF"
constexpr std::uint64_t kLimitBytes = 1ULL << 30;  // of one string or array, in memory
constexpr std::uint64_t kDefaultAlignment = 32, kLeastAlignment = 8, kMostAlignment = 1 << 20;
constexpr std::uint32_t kMostDimensions = 4;

enum class Kind : std::uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  BOOL,
  TEXT,
  ARRAY,
  U64,
  I64,
  F64
};

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, const std::string& file)
      : bytes_(bytes), cursor_(bytes, file) {}

  GgufContents parse() {
    check_version();
    const auto tensors = cursor_.read<std::uint64_t>("the tensor count");
    const auto keys = cursor_.read<std::uint64_t>("the key count");
    constexpr std::uint64_t kLeastKey = 8 + 4 + 1, kLeastTensor = 8 + 4 + 8 + 4 + 8;
    cursor_.expect(keys, kLeastKey, "the list of keys");
    for (std::uint64_t k = 0; k < keys; ++k) read_key();
    cursor_.within("");
    cursor_.expect(tensors, kLeastTensor, "the list of tensors");
    for (std::uint64_t t = 0; t < tensors; ++t) read_tensor();
    refuse_split();
    place_tensors();
    return std::move(out_);
  }

 private:
  void check_version() {
    if (cursor_.left() < 8 || cursor_.read<std::uint32_t>("the magic") != kMagic)
      cursor_.fail("not a GGUF file: it does not begin with 'GGUF' and a version");
    const auto version = cursor_.read<std::uint32_t>("the version");
    if (version == 2 || version == 3) return;
    if (version != 0 && (version & 0xFFFF) == 0)
      cursor_.fail(
          "the file is big-endian (its version reads " + std::to_string(version) +
          "); redline reads little-endian files: convert the model again for this machine");
    cursor_.fail("GGUF version " + std::to_string(version) +
                 "; redline reads versions 2 and 3: convert the model again with a current tool");
  }

  void read_key() {
    cursor_.within("the list of keys");
    const std::string key(cursor_.read_text("a key's name"));
    cursor_.within("key " + printable(key));
    const auto kind = cursor_.read<std::uint32_t>("its type");
    Value value = static_cast<Kind>(kind) == Kind::ARRAY ? read_array() : read_scalar(kind);
    if (!out_.values.emplace(key, std::move(value)).second) cursor_.fail("appears twice");
  }

  Value read_scalar(std::uint32_t kind) {
    switch (static_cast<Kind>(kind)) {
      case Kind::U8:
        return unsigned_integer<std::uint8_t>();
      case Kind::U16:
        return unsigned_integer<std::uint16_t>();
      case Kind::U32:
        return unsigned_integer<std::uint32_t>();
      case Kind::U64:
        return unsigned_integer<std::uint64_t>();
      case Kind::I8:
        return signed_integer<std::int8_t>();
      case Kind::I16:
        return signed_integer<std::int16_t>();
      case Kind::I32:
        return signed_integer<std::int32_t>();
      case Kind::I64:
        return signed_integer<std::int64_t>();
      case Kind::F32:
        return real<float>();
      case Kind::F64:
        return real<double>();
      case Kind::BOOL:
        return boolean();
      case Kind::TEXT:
        return text();
      case Kind::ARRAY:
        break;
    }
    refuse_kind(kind, "type");
  }

  Value read_array() {
    const auto kind = cursor_.read<std::uint32_t>("its item type");
    const auto count = cursor_.read<std::uint64_t>("its length");
    switch (static_cast<Kind>(kind)) {
      case Kind::U8:
        return list(count, 1, [&] { return unsigned_integer<std::uint8_t>(); });
      case Kind::U16:
        return list(count, 2, [&] { return unsigned_integer<std::uint16_t>(); });
      case Kind::U32:
        return list(count, 4, [&] { return unsigned_integer<std::uint32_t>(); });
      case Kind::U64:
        return list(count, 8, [&] { return unsigned_integer<std::uint64_t>(); });
      case Kind::I8:
        return list(count, 1, [&] { return signed_integer<std::int8_t>(); });
      case Kind::I16:
        return list(count, 2, [&] { return signed_integer<std::int16_t>(); });
      case Kind::I32:
        return list(count, 4, [&] { return signed_integer<std::int32_t>(); });
      case Kind::I64:
        return list(count, 8, [&] { return signed_integer<std::int64_t>(); });
      case Kind::F32:
        return list(count, 4, [&] { return real<float>(); });
      case Kind::F64:
        return list(count, 8, [&] { return real<double>(); });
      case Kind::BOOL:
        return list(count, 1, [&] { return boolean(); });
      case Kind::TEXT:
        return list(count, 8, [&] { return text(); });
      case Kind::ARRAY:
        break;
    }
    refuse_kind(kind, "array item type");
  }

  template <class Read>
  Value list(std::uint64_t count, std::uint64_t item_bytes, Read read) {
    using Item = decltype(read());
    cursor_.expect(count, item_bytes, "an array");
    if (count > kLimitBytes / sizeof(Item))
      cursor_.fail("an array of " + std::to_string(count) + " items; at most " +
                   std::to_string(kLimitBytes / sizeof(Item)) + " are read");
    std::vector<Item> items;
    items.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) items.push_back(read());
    return items;
  }

  template <class T>
  std::uint64_t unsigned_integer() {
    return cursor_.read<T>("a number");
  }
  template <class T>
  std::int64_t signed_integer() {
    return cursor_.read<T>("a number");
  }
  template <class T>
  double real() {
    return cursor_.read<T>("a number");
  }

  bool boolean() {
    const auto byte = cursor_.read<std::uint8_t>("a truth value");
    if (byte > 1) cursor_.fail("a truth value is 0 or 1, not " + std::to_string(byte));
    return byte == 1;
  }

  std::string text() {
    const std::string_view bytes = cursor_.read_text("a string");
    if (bytes.size() > kLimitBytes)
      cursor_.fail("a string of " + std::to_string(bytes.size()) + " bytes; at most " +
                   std::to_string(kLimitBytes) + " are read");
    return std::string(bytes);
  }

  [[noreturn]] void refuse_kind(std::uint32_t kind, const std::string& what) {
    const bool nested = static_cast<Kind>(kind) == Kind::ARRAY;
    cursor_.fail("unknown " + what + " " + std::to_string(kind) +
                 (nested ? " (an array inside an array)" : "") + "; known are 0 to 8 and 10 to 12");
  }

  void read_tensor() {
    cursor_.within("the list of tensors");
    Tensor tensor;
    tensor.name = cursor_.read_text("a tensor's name");
    cursor_.within("tensor " + printable(tensor.name));
    if (!names_.insert(tensor.name).second) cursor_.fail("appears twice");
    const auto dimensions = cursor_.read<std::uint32_t>("its number of dimensions");
    if (dimensions == 0 || dimensions > kMostDimensions)
      cursor_.fail(std::to_string(dimensions) + " dimensions; a tensor has 1 to " +
                   std::to_string(kMostDimensions));
    for (std::uint32_t d = 0; d < dimensions; ++d)
      tensor.shape.push_back(cursor_.read<std::int64_t>("a dimension"));
    const auto number = cursor_.read<std::uint32_t>("its type");
    const auto type = tensor_type(number);
    if (!type)
      cursor_.fail("type " + tensor_type_name(number) + " is not supported; redline reads " +
                   known_tensor_types() + ": take a file of this model quantised to one of these");
    tensor.type = *type;
    offsets_.push_back(cursor_.read<std::uint64_t>("its offset"));
    sizes_.push_back(byte_size(tensor));
    out_.tensors.push_back(std::move(tensor));
  }

  // Bytes of the tensor's blocks; every product is checked before it is made.
  std::uint64_t byte_size(const Tensor& tensor) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
    const BlockShape block = block_shape(tensor.type);
    std::uint64_t weights = 1;
    for (const std::int64_t extent : tensor.shape) {
      if (extent < 1) cursor_.fail("a dimension of " + std::to_string(extent) + "; the least is 1");
      if (static_cast<std::uint64_t>(extent) > kMost / weights)
        cursor_.fail("its dimensions multiply to more than 2^50 weights");
      weights *= static_cast<std::uint64_t>(extent);
    }
    if (tensor.cols() % block.weights != 0)
      cursor_.fail("rows of " + std::to_string(tensor.cols()) + " weights do not divide into " +
                   std::string(block.name) + " blocks of " + std::to_string(block.weights));
    return weights / static_cast<std::uint64_t>(block.weights) *
           static_cast<std::uint64_t>(block.bytes);
  }

  void refuse_split() {
    cursor_.within("key 'split.count'");
    const auto found = out_.values.find("split.count");
    if (found == out_.values.end()) return;
    const auto* count = std::get_if<std::uint64_t>(&found->second);
    if (count == nullptr) cursor_.fail("is not an unsigned number");
    if (*count > 1)
      cursor_.fail("the model is split into " + std::to_string(*count) +
                   " files; redline reads one: merge them (llama-gguf-split --merge) first");
  }

  std::uint64_t alignment() {
    cursor_.within("key 'general.alignment'");
    const auto found = out_.values.find("general.alignment");
    if (found == out_.values.end()) return kDefaultAlignment;
    const auto* value = std::get_if<std::uint64_t>(&found->second);
    if (value == nullptr) cursor_.fail("is not an unsigned number");
    if (!std::has_single_bit(*value) || *value < kLeastAlignment || *value > kMostAlignment)
      cursor_.fail("is " + std::to_string(*value) + "; it must be a power of two from " +
                   std::to_string(kLeastAlignment) + " to " + std::to_string(kMostAlignment));
    return *value;
  }

  // Tensors follow each other in the order of the list, each padded to the alignment.
  void place_tensors() {
    const std::uint64_t unit = alignment();
    const auto padded = [unit](std::uint64_t size) { return (size + unit - 1) / unit * unit; };
    const std::uint64_t start = padded(cursor_.position());
    out_.header_bytes = std::min<std::uint64_t>(start, bytes_.size());
    const std::uint64_t data_bytes = bytes_.size() - out_.header_bytes;
    std::uint64_t expected = 0;
    for (std::size_t t = 0; t < out_.tensors.size(); ++t) {
      Tensor& tensor = out_.tensors[t];
      cursor_.within("tensor " + printable(tensor.name));
      if (offsets_[t] != expected)
        cursor_.fail("its data is said to begin at " + std::to_string(offsets_[t]) +
                     ", but the tensors before it end at " + std::to_string(expected));
      if (expected > data_bytes || sizes_[t] > data_bytes - expected)
        cursor_.fail("its data needs " + std::to_string(sizes_[t]) + " bytes at " +
                     std::to_string(start + expected) + " and the file has " +
                     std::to_string(bytes_.size()) + ": it is truncated; fetch it again");
      tensor.bytes = bytes_.subspan(start + expected, sizes_[t]);
      expected += padded(sizes_[t]);
    }
  }

  std::span<const std::byte> bytes_;
  ByteCursor cursor_;
  GgufContents out_;
  std::unordered_set<std::string> names_;
  std::vector<std::uint64_t> offsets_, sizes_;  // [tensors], relative to the data; in bytes
};

}  // namespace

GgufContents parse_gguf(std::span<const std::byte> bytes, const std::string& file) {
  return Parser(bytes, file).parse();
}

}  // namespace redline::files
