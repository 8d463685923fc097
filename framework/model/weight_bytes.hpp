// SPDX-License-Identifier: Apache-2.0
// The bytes of a packed weights file: mapped, so that all processes share them in pages of 4 KiB;
// or read into huge pages of this process, over which a forward runs up to a third faster, because
// a pass over all weights then asks for a page's address once in 2 MiB.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "files/mapped_file.hpp"

namespace redline::model {

class WeightBytes {
 public:
  static bool has_huge_pages();  // whether the kernel gives them to those that ask

  WeightBytes() = default;  // of no file
  // InputError: missing, not a file. DeviceError: no memory for a copy.
  WeightBytes(const std::filesystem::path& path, bool in_huge_pages);

  std::span<const std::byte> bytes() const { return bytes_; }
  // Reads a part that is about to be used, where the bytes are a copy. May be called for different
  // parts at once. InputError: the file has become shorter.
  void bring(std::int64_t offset, std::int64_t size) const;

 private:
  struct Copy;
  files::MappedFile mapped_;
  std::shared_ptr<Copy> copy_;  // null: mapped
  std::span<const std::byte> bytes_;
};

}  // namespace redline::model
