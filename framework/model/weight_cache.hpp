// SPDX-License-Identifier: Apache-2.0
// The matrices of one model in the kernels' tile layout, in a file of the cache folder: packed
// once, then read by all processes (see weight_bytes.hpp). A file that is short, damaged or of
// another layout is packed again.
//
// File: text that names model, layout and every matrix, padded to 4096 bytes; one checksum (u64) a
// matrix, padded alike; the tiles. Everything but the checksums follows from the model file, so a
// cached file is right when it is what would be written now and its checksums hold.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "device/worker_pool.hpp"
#include "files/gguf.hpp"
#include "model/packed_layout.hpp"
#include "model/weight_bytes.hpp"
#include "redline/kernels/weights.hpp"

namespace redline::model {

class WeightCache {
 public:
  using Progress = std::function<void(double done, const std::string& what)>;
  // matrices: of 2-D tensors of the file. DeviceError: the folder cannot be written.
  WeightCache(const files::Gguf& file, const std::vector<PackedSource>& matrices,
              const std::filesystem::path& folder, bool in_huge_pages, device::WorkerPool& pool,
              const Progress& progress);

  bool has(const std::string& name) const { return matrices_.contains(name); }
  const kernels::PackedMatrix& matrix(std::string_view name) const;
  bool was_packed_now() const { return was_packed_now_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  WeightBytes weights_;
  std::filesystem::path path_;
  std::unordered_map<std::string, kernels::PackedMatrix> matrices_;
  bool was_packed_now_ = false;
};

}  // namespace redline::model
