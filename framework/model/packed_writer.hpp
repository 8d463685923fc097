// SPDX-License-Identifier: Apache-2.0
// Packs a model's matrices into a file, a few tiles at a time, and renames it into place when
// whole.
#pragma once
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "device/worker_pool.hpp"
#include "model/packed_layout.hpp"

namespace redline::model {

// What was looked at need not stay in memory: these pages of a mapped file come again when they are
// asked for.
void forget(std::span<const std::byte> mapped);

class PackedWriter {
 public:
  static void make_folder(const std::filesystem::path& folder);  // DeviceError: it cannot
  PackedWriter(const std::filesystem::path& path, const PackedLayout& layout);
  ~PackedWriter();                             // not written to the end: nothing stays behind
  PackedWriter(const PackedWriter&) = delete;  // holds a descriptor

  void write(device::WorkerPool& pool,
             const std::function<void(double done, const std::string& what)>& progress);

 private:
  std::uint64_t write_matrix(const PackedEntry& entry, device::WorkerPool& pool);
  void write_at(const void* data, std::int64_t bytes, std::int64_t offset);  // [any thread]

  std::filesystem::path path_, part_;
  const PackedLayout& layout_;
  int descriptor_;
};

}  // namespace redline::model
