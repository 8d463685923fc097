// SPDX-License-Identifier: Apache-2.0
#include "files/gguf_writer.hpp"

#include <cstring>
#include <fstream>
#include <limits>

#include "files/tensor_type.hpp"
#include "files/utf8.hpp"
#include "redline/error.hpp"

namespace redline::files {
namespace {

constexpr std::uint64_t kAlignment = 32;  // GGUF's default, so no key says it

// GGUF's numbers for value types.
constexpr std::uint32_t kU32 = 4, kI32 = 5, kF32 = 6, kBool = 7, kText = 8, kArray = 9, kU64 = 10,
                        kI64 = 11;

class Out {
 public:
  template <class T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    bytes_.append(bytes, sizeof(T));
  }
  void put_text(std::string_view text) {
    put<std::uint64_t>(text.size());
    bytes_ += text;
  }
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void pad() { bytes_.resize((bytes_.size() + kAlignment - 1) / kAlignment * kAlignment); }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

template <class Small, class Wide>
bool fits(Wide value) {
  return value >= static_cast<Wide>(std::numeric_limits<Small>::min()) &&
         value <= static_cast<Wide>(std::numeric_limits<Small>::max());
}

// The type number of one item, narrow where every item of the value fits.
template <class Small, class Wide>
std::uint32_t kind_of(const std::vector<Wide>& items, std::uint32_t small, std::uint32_t wide) {
  for (const Wide item : items)
    if (!fits<Small>(item)) return wide;
  return small;
}
std::uint32_t kind(const std::vector<std::uint64_t>& v) {
  return kind_of<std::uint32_t>(v, kU32, kU64);
}
std::uint32_t kind(const std::vector<std::int64_t>& v) {
  return kind_of<std::int32_t>(v, kI32, kI64);
}
std::uint32_t kind(const std::vector<double>&) { return kF32; }
std::uint32_t kind(const std::vector<bool>&) { return kBool; }
std::uint32_t kind(const std::vector<std::string>&) { return kText; }

void put_item(Out& out, std::uint64_t value, std::uint32_t kind) {
  kind == kU32 ? out.put(static_cast<std::uint32_t>(value)) : out.put(value);
}
void put_item(Out& out, std::int64_t value, std::uint32_t kind) {
  kind == kI32 ? out.put(static_cast<std::int32_t>(value)) : out.put(value);
}
void put_item(Out& out, double value, std::uint32_t) { out.put(static_cast<float>(value)); }
void put_item(Out& out, bool value, std::uint32_t) { out.put<std::uint8_t>(value ? 1 : 0); }
void put_item(Out& out, const std::string& value, std::uint32_t) { out.put_text(value); }

template <class T>
void put_value(Out& out, const T& scalar) {
  const std::uint32_t type = kind(std::vector<T>{scalar});
  out.put(type);
  put_item(out, scalar, type);
}
template <class T>
void put_value(Out& out, const std::vector<T>& list) {
  const std::uint32_t type = kind(list);
  out.put(kArray);
  out.put(type);
  out.put<std::uint64_t>(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) put_item(out, static_cast<T>(list[i]), type);
}

}  // namespace

void GgufWriter::set(std::string key, Value value) {
  values_.emplace_back(std::move(key), std::move(value));
}

void GgufWriter::add(std::string name, TensorType type, std::vector<std::int64_t> shape,
                     std::vector<std::byte> bytes) {
  const BlockShape block = block_shape(type);
  if (shape.empty() || shape[0] % block.weights != 0)
    throw InputError("tensor " + printable(name) + ": its rows do not divide into " +
                     std::string(block.name) + " blocks of " + std::to_string(block.weights));
  std::int64_t expected = shape[0] / block.weights * block.bytes;
  for (std::size_t d = 1; d < shape.size(); ++d) expected *= shape[d];
  if (static_cast<std::int64_t>(bytes.size()) != expected)
    throw InputError("tensor " + printable(name) + ": its type and shape take " +
                     std::to_string(expected) + " bytes, " + std::to_string(bytes.size()) +
                     " are given");
  tensors_.push_back({std::move(name), type, std::move(shape), std::move(bytes)});
}

std::string GgufWriter::bytes() const {
  Out out;
  out.put_bytes(std::as_bytes(std::span("GGUF", 4)));
  out.put<std::uint32_t>(3);
  out.put<std::uint64_t>(tensors_.size());
  out.put<std::uint64_t>(values_.size());
  for (const auto& [key, value] : values_) {
    out.put_text(key);
    std::visit([&](const auto& held) { put_value(out, held); }, value);
  }
  std::uint64_t offset = 0;
  for (const Entry& tensor : tensors_) {
    out.put_text(tensor.name);
    out.put(static_cast<std::uint32_t>(tensor.shape.size()));
    for (const std::int64_t extent : tensor.shape) out.put(extent);
    out.put(static_cast<std::uint32_t>(tensor.type));
    out.put(offset);
    offset += (tensor.bytes.size() + kAlignment - 1) / kAlignment * kAlignment;
  }
  out.pad();
  for (const Entry& tensor : tensors_) {
    out.put_bytes(tensor.bytes);
    out.pad();
  }
  return out.bytes();
}

void GgufWriter::write(const std::filesystem::path& path) const {
  const std::string all = bytes();
  std::ofstream file(path, std::ios::binary);
  file.write(all.data(), static_cast<std::streamsize>(all.size()));
  if (!file.flush()) throw InputError(path.string() + ": cannot be written");
}

}  // namespace redline::files
