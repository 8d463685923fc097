// SPDX-License-Identifier: Apache-2.0
// SHA-256 in lower-case hex, of memory and of files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace redline::files {

class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  ~Sha256();
  void add(std::span<const std::byte> bytes);
  void add(std::string_view bytes) { add(std::as_bytes(std::span(bytes))); }
  std::string hex();  // ends the hash: call once

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_hex(std::span<const std::byte> bytes);
// `progress` is told the bytes hashed so far. InputError: the file cannot be read.
std::string sha256_file(const std::filesystem::path& path,
                        const std::function<void(std::uint64_t)>& progress = {});

}  // namespace redline::files
