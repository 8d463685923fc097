// SPDX-License-Identifier: Apache-2.0
#include "files/gguf.hpp"

#include <cmath>
#include <limits>
#include <unordered_map>

#include "files/gguf_parse.hpp"
#include "files/mapped_file.hpp"
#include "files/sha256.hpp"
#include "files/utf8.hpp"
#include "redline/error.hpp"

namespace redline::files {
namespace {

constexpr double kTwo63 = 9223372036854775808.0;

std::optional<std::int64_t> as_integer(std::int64_t value) { return value; }
std::optional<std::int64_t> as_integer(std::uint64_t value) {
  if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
  return static_cast<std::int64_t>(value);
}
std::optional<std::int64_t> as_integer(double value) {
  if (!(value >= -kTwo63 && value < kTwo63) || value != std::floor(value)) return {};
  return static_cast<std::int64_t>(value);
}

std::string_view kind_name(const Value& value) {
  constexpr std::string_view kNames[] = {"an unsigned number",
                                         "a signed number",
                                         "a real number",
                                         "a truth value",
                                         "a string",
                                         "a list of unsigned numbers",
                                         "a list of numbers",
                                         "a list of real numbers",
                                         "a list of truth values",
                                         "a list of strings"};
  return kNames[value.index()];
}

}  // namespace

std::int64_t Tensor::rows() const {
  std::int64_t product = 1;
  for (std::size_t d = 1; d < shape.size(); ++d) product *= shape[d];
  return product;
}

struct Gguf::Impl {
  std::filesystem::path path;
  MappedFile mapping;            // of a file; or
  std::vector<std::byte> owned;  // of bytes given
  std::span<const std::byte> bytes;
  GgufContents contents;
  std::unordered_map<std::string_view, std::size_t> tensor_index;

  void parse() {
    contents = parse_gguf(bytes, path.string());
    for (std::size_t t = 0; t < contents.tensors.size(); ++t)
      tensor_index.emplace(contents.tensors[t].name, t);
  }

  [[noreturn]] void refuse(std::string_view key, const std::string& why) const {
    throw InputError(path.string() + ": key " + printable(key) + " " + why);
  }
  // The value of a key that must be there; nullptr only if it may be absent and is.
  const Value* look(std::string_view key, bool required) const {
    const auto found = contents.values.find(key);
    if (found != contents.values.end()) return &found->second;
    if (required) refuse(key, "is missing; the file is not a complete model: convert it again");
    return nullptr;
  }
  [[noreturn]] void wrong(std::string_view key, const Value& value, const char* wanted) const {
    refuse(key, "is " + std::string(kind_name(value)) + "; it must be " + wanted);
  }
};

Gguf::Gguf(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Gguf::Gguf(Gguf&&) noexcept = default;
Gguf& Gguf::operator=(Gguf&&) noexcept = default;
Gguf::~Gguf() = default;

Gguf Gguf::open(const std::filesystem::path& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->mapping = MappedFile(path);
  impl->bytes = impl->mapping.bytes();
  impl->parse();
  return Gguf(std::move(impl));
}

Gguf Gguf::of_bytes(std::vector<std::byte> bytes, const std::filesystem::path& name) {
  auto impl = std::make_unique<Impl>();
  impl->path = name;
  impl->owned = std::move(bytes);
  impl->bytes = impl->owned;
  impl->parse();
  return Gguf(std::move(impl));
}

const std::filesystem::path& Gguf::path() const { return impl_->path; }
std::uint64_t Gguf::file_bytes() const { return impl_->bytes.size(); }
std::span<const std::byte> Gguf::header() const {
  return impl_->bytes.first(impl_->contents.header_bytes);
}
std::string Gguf::header_sha256() const { return sha256_hex(header()); }

const Value* Gguf::find(std::string_view key) const { return impl_->look(key, false); }

std::int64_t Gguf::integer(std::string_view key, std::optional<std::int64_t> fallback) const {
  const Value* value = impl_->look(key, !fallback);
  if (value == nullptr) return *fallback;
  std::optional<std::int64_t> out;
  if (const auto* u = std::get_if<std::uint64_t>(value)) out = as_integer(*u);
  if (const auto* i = std::get_if<std::int64_t>(value)) out = as_integer(*i);
  if (const auto* d = std::get_if<double>(value)) out = as_integer(*d);
  if (!out) impl_->wrong(key, *value, "a whole number of at most 63 bits");
  return *out;
}

double Gguf::number(std::string_view key, std::optional<double> fallback) const {
  const Value* value = impl_->look(key, !fallback);
  if (value == nullptr) return *fallback;
  if (const auto* u = std::get_if<std::uint64_t>(value)) return static_cast<double>(*u);
  if (const auto* i = std::get_if<std::int64_t>(value)) return static_cast<double>(*i);
  if (const auto* d = std::get_if<double>(value)) return *d;
  impl_->wrong(key, *value, "a number");
}

bool Gguf::boolean(std::string_view key, std::optional<bool> fallback) const {
  const Value* value = impl_->look(key, !fallback);
  if (value == nullptr) return *fallback;
  if (const auto* b = std::get_if<bool>(value)) return *b;
  impl_->wrong(key, *value, "a truth value");
}

std::string Gguf::text(std::string_view key, std::optional<std::string> fallback) const {
  const Value* value = impl_->look(key, !fallback);
  if (value == nullptr) return *fallback;
  if (const auto* s = std::get_if<std::string>(value)) return *s;
  impl_->wrong(key, *value, "a string");
}

std::span<const std::string> Gguf::texts(std::string_view key) const {
  const Value* value = impl_->look(key, true);
  if (const auto* list = std::get_if<std::vector<std::string>>(value)) return *list;
  impl_->wrong(key, *value, "a list of strings");
}

std::vector<std::int64_t> Gguf::integers(std::string_view key) const {
  const Value* value = impl_->look(key, true);
  std::vector<std::int64_t> out;
  const auto convert = [&](const auto& list) {
    for (const auto item : list) {
      const auto whole = as_integer(item);
      if (!whole) impl_->refuse(key, "holds a number that is not a whole one of at most 63 bits");
      out.push_back(*whole);
    }
    return out;
  };
  if (const auto* u = std::get_if<std::vector<std::uint64_t>>(value)) return convert(*u);
  if (const auto* i = std::get_if<std::vector<std::int64_t>>(value)) return convert(*i);
  if (const auto* d = std::get_if<std::vector<double>>(value)) return convert(*d);
  impl_->wrong(key, *value, "a list of numbers");
}

std::vector<double> Gguf::numbers(std::string_view key) const {
  const Value* value = impl_->look(key, true);
  if (const auto* u = std::get_if<std::vector<std::uint64_t>>(value)) return {u->begin(), u->end()};
  if (const auto* i = std::get_if<std::vector<std::int64_t>>(value)) return {i->begin(), i->end()};
  if (const auto* d = std::get_if<std::vector<double>>(value)) return *d;
  impl_->wrong(key, *value, "a list of numbers");
}

std::span<const Tensor> Gguf::tensors() const { return impl_->contents.tensors; }

const Tensor* Gguf::find_tensor(std::string_view name) const {
  const auto found = impl_->tensor_index.find(name);
  return found == impl_->tensor_index.end() ? nullptr : &impl_->contents.tensors[found->second];
}

const Tensor& Gguf::tensor(std::string_view name) const {
  if (const Tensor* found = find_tensor(name)) return *found;
  throw InputError(impl_->path.string() + ": tensor " + printable(name) + " is missing among " +
                   std::to_string(tensors().size()) + " tensors; convert the model again");
}

}  // namespace redline::files
