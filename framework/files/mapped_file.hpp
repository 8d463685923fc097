// SPDX-License-Identifier: Apache-2.0
// A file mapped read-only and shared: processes that open the same model share its pages.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace redline::files {

class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::filesystem::path& path);  // InputError: missing, not a file
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;  // empty: nothing mapped
};

}  // namespace redline::files
