// SPDX-License-Identifier: Apache-2.0
// A GGUF file (v2, v3), memory-mapped read-only. Every size is checked before use; a truncated,
// lying or hostile file is an InputError naming the file, the tensor or key, and the two numbers.
// Knows no architecture.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace redline::files {

enum class TensorType : std::uint32_t {
  F32 = 0,
  F16 = 1,
  Q4_0 = 2,
  Q4_1 = 3,
  Q5_0 = 6,
  Q8_0 = 8,
  Q4_K = 12,
  Q5_K = 13,
  Q6_K = 14,
  BF16 = 30
};

struct Tensor {
  std::string name;
  TensorType type;
  std::vector<std::int64_t> shape;   // fastest first: [inputs, outputs] of a matmul
  std::span<const std::byte> bytes;  // in the mapping
  std::int64_t cols() const { return shape.at(0); }
  std::int64_t rows() const;  // product of the other dimensions
};

// One metadata value. Arrays of strings and of numbers are kept whole.
using Value = std::variant<std::uint64_t, std::int64_t, double, bool, std::string,
                           std::vector<std::uint64_t>, std::vector<std::int64_t>,
                           std::vector<double>, std::vector<bool>, std::vector<std::string>>;

class Gguf {
 public:
  static Gguf open(const std::filesystem::path& path);
  static Gguf of_bytes(std::vector<std::byte> bytes, const std::filesystem::path& name);
  Gguf(Gguf&&) noexcept;
  Gguf& operator=(Gguf&&) noexcept;
  ~Gguf();

  const std::filesystem::path& path() const;
  std::uint64_t file_bytes() const;
  std::span<const std::byte> header() const;  // everything before the tensor data
  std::string header_sha256() const;          // hex

  const Value* find(std::string_view key) const;
  bool has(std::string_view key) const { return find(key) != nullptr; }
  // The value in the type asked for; numbers convert when they fit. Without a fallback a missing
  // key is an InputError; a wrong type always is.
  std::int64_t integer(std::string_view key, std::optional<std::int64_t> fallback = {}) const;
  double number(std::string_view key, std::optional<double> fallback = {}) const;
  bool boolean(std::string_view key, std::optional<bool> fallback = {}) const;
  std::string text(std::string_view key, std::optional<std::string> fallback = {}) const;
  std::span<const std::string> texts(std::string_view key) const;  // InputError when missing
  std::vector<std::int64_t> integers(std::string_view key) const;  // InputError when missing
  std::vector<double> numbers(std::string_view key) const;         // InputError when missing

  std::span<const Tensor> tensors() const;
  const Tensor* find_tensor(std::string_view name) const;
  const Tensor& tensor(std::string_view name) const;  // InputError when missing

 private:
  struct Impl;
  explicit Gguf(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::files
