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

std::uint64_t stored_sum(const files::MappedFile& file, const PackedLayout& layout, std::size_t i) {
  std::uint64_t sum;
  std::memcpy(&sum, file.bytes().data() + layout.sums_offset + 8 * i, sizeof sum);
  return sum;
}

std::uint64_t sum_of(const PackedEntry& entry, std::span<const std::byte> tiles,
                     device::WorkerPool& pool) {
  const std::int64_t group_bytes = entry.bytes / entry.tiles() * entry.group_tiles;
  std::atomic<std::uint64_t> sum = 0;
  pool.run(entry.groups(), [&](std::int64_t group, int) {
    const std::int64_t begin = group * group_bytes;
    sum += checksum(tiles.subspan(begin, std::min(group_bytes, entry.bytes - begin)), group);
  });
  return sum;
}

// The file as it lies there, or nothing mapped when it is not what would be written now.
files::MappedFile open_cached(const fs::path& path, const PackedLayout& layout,
                              device::WorkerPool& pool, const WeightCache::Progress& progress) {
  std::error_code missing;
  if (static_cast<std::int64_t>(fs::file_size(path, missing)) != layout.file_bytes || missing)
    return {};
  files::MappedFile file(path);
  const auto bytes = file.bytes();
  if (static_cast<std::int64_t>(bytes.size()) != layout.file_bytes ||
      std::memcmp(bytes.data(), layout.head.data(), layout.head.size()) != 0)
    return {};
  for (std::size_t i = 0; i < layout.entries.size(); ++i) {
    const PackedEntry& entry = layout.entries[i];
    if (sum_of(entry, bytes.subspan(entry.offset, entry.bytes), pool) !=
        stored_sum(file, layout, i))
      return {};
    if (progress) progress(double(i + 1) / layout.entries.size(), "checking packed weights");
  }
  return file;
}

}  // namespace

WeightCache::WeightCache(const files::Gguf& file, const std::vector<PackedSource>& matrices,
                         const fs::path& folder, device::WorkerPool& pool,
                         const Progress& progress) {
  const PackedLayout layout = packed_layout(file, matrices);
  path_ = folder / layout.file_name;
  mapped_ = open_cached(path_, layout, pool, progress);
  if (mapped_.bytes().empty()) {
    PackedWriter::make_folder(folder);
    const FileLock lock(fs::path(path_).concat(".lock"));
    mapped_ =
        open_cached(path_, layout, pool, progress);  // another process may have just packed it
    if (mapped_.bytes().empty()) {
      PackedWriter(path_, layout).write(pool, progress);
      mapped_ = files::MappedFile(path_);
      was_packed_now_ = true;
    }
  }
  for (const PackedEntry& entry : layout.entries)
    matrices_.emplace(entry.name,
                      kernels::PackedMatrix{entry.type, entry.tensor->rows(), entry.tensor->cols(),
                                            mapped_.bytes().data() + entry.offset});
}

const kernels::PackedMatrix& WeightCache::matrix(std::string_view name) const {
  const auto found = matrices_.find(std::string(name));
  if (found == matrices_.end()) throw Error("no packed matrix " + std::string(name));
  return found->second;
}

}  // namespace redline::model
