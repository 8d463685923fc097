// SPDX-License-Identifier: Apache-2.0
#include "model/weight_cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>

#include "model/file_lock.hpp"
#include "model/packed_writer.hpp"
#include "redline/error.hpp"

namespace redline::model {
namespace {

namespace fs = std::filesystem;

std::uint64_t stored_sum(const WeightBytes& file, const PackedLayout& layout, std::size_t i) {
  std::uint64_t sum;
  std::memcpy(&sum, file.bytes().data() + layout.sums_offset + 8 * i, sizeof sum);
  return sum;
}

// Brings the entry's tiles in and sums them up while they are in cache.
std::uint64_t sum_of(const PackedEntry& entry, const WeightBytes& file, device::WorkerPool& pool) {
  const std::int64_t group_bytes = entry.bytes / entry.tiles() * entry.group_tiles;
  std::atomic<std::uint64_t> sum = 0;
  pool.run(entry.groups(), [&](std::int64_t group, int) {
    const std::int64_t begin = group * group_bytes;
    const std::int64_t size = std::min(group_bytes, entry.bytes - begin);
    file.bring(entry.offset + begin, size);
    sum += checksum(file.bytes().subspan(entry.offset + begin, size), group);
  });
  return sum;
}

// The file as it lies there, or nothing when it is not what would be written now.
WeightBytes open_cached(const fs::path& path, const PackedLayout& layout, bool in_huge_pages,
                        device::WorkerPool& pool, const WeightCache::Progress& progress) {
  std::error_code missing;
  if (static_cast<std::int64_t>(fs::file_size(path, missing)) != layout.file_bytes || missing)
    return {};
  WeightBytes file(path, in_huge_pages);
  if (static_cast<std::int64_t>(file.bytes().size()) != layout.file_bytes) return {};
  file.bring(0, layout.sums_offset + static_cast<std::int64_t>(8 * layout.entries.size()));
  if (std::memcmp(file.bytes().data(), layout.head.data(), layout.head.size()) != 0) return {};
  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    if (sum_of(layout.entries[i], file, pool) != stored_sum(file, layout, i)) return {};
    if (progress) progress(double(i + 1) / layout.entries.size(), "checking packed weights");
  }
  return file;
}

}  // namespace

WeightCache::WeightCache(const files::Gguf& file, const std::vector<PackedSource>& matrices,
                         const fs::path& folder, bool in_huge_pages, device::WorkerPool& pool,
                         const Progress& progress) {
  const PackedLayout layout = packed_layout(file, matrices);
  for (const PackedEntry& entry : layout.entries) forget(entry.tensor->bytes);  // its samples
  path_ = folder / layout.file_name;
  const auto open = [&](const Progress& shown) {
    return open_cached(path_, layout, in_huge_pages, pool, shown);
  };
  weights_ = open(progress);
  if (weights_.bytes().empty()) {
    PackedWriter::make_folder(folder);
    const FileLock lock(fs::path(path_).concat(".lock"));
    weights_ = open(progress);  // another process may have just packed it
    if (weights_.bytes().empty()) {
      PackedWriter(path_, layout).write(pool, progress);
      was_packed_now_ = true;
      weights_ = open({});
      if (weights_.bytes().empty())
        throw DeviceError(path_.string() + ": does not hold what was just written to it");
    }
  }
  for (const PackedEntry& entry : layout.entries)
    matrices_.emplace(entry.name,
                      kernels::PackedMatrix{entry.type, entry.tensor->rows(), entry.tensor->cols(),
                                            weights_.bytes().data() + entry.offset});
}

const kernels::PackedMatrix& WeightCache::matrix(std::string_view name) const {
  const auto found = matrices_.find(std::string(name));
  if (found == matrices_.end()) throw Error("no packed matrix " + std::string(name));
  return found->second;
}

}  // namespace redline::model
