// SPDX-License-Identifier: Apache-2.0
#include "model/packed_writer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

#include "redline/error.hpp"
#include "redline/kernels/requantize.hpp"

namespace redline::model {
namespace {

// Rows of the file that are quantised anew, as rows of a file of the type to pack.
std::vector<std::byte> quantized(const PackedEntry& entry, std::int64_t first, std::int64_t rows) {
  const std::int64_t cols = entry.tensor->cols();
  const std::int64_t from = kernels::file_row_bytes(entry.stored, cols);
  const std::int64_t to = kernels::file_row_bytes(entry.type, cols);
  std::vector<float> row(cols);
  std::vector<std::byte> out(rows * to);
  for (std::int64_t i = 0; i < rows; ++i) {
    kernels::dequantize_row(entry.stored, entry.tensor->bytes.data() + (first + i) * from, cols,
                            row.data());
    kernels::quantize_row_q4_0(row.data(), cols, out.data() + i * to);
  }
  return out;
}

void pack_rows(const PackedEntry& entry, std::int64_t first, std::int64_t rows, std::byte* tiles) {
  const std::int64_t cols = entry.tensor->cols();
  if (entry.stored != entry.type)
    return kernels::pack(entry.type, rows, cols, quantized(entry, first, rows).data(), tiles);
  kernels::pack(entry.type, rows, cols,
                entry.tensor->bytes.data() + first * kernels::file_row_bytes(entry.type, cols),
                tiles);
}

[[noreturn]] void refuse(const std::filesystem::path& path, int error, std::int64_t bytes) {
  throw DeviceError("packed weights: cannot write " + path.string() + ": " + std::strerror(error) +
                    "; it takes " + std::to_string(bytes) +
                    " bytes; free some space or set REDLINE_CACHE to another folder");
}

}  // namespace

void forget(std::span<const std::byte> mapped) {
  constexpr std::uintptr_t kPage = 4096;
  const auto at = reinterpret_cast<std::uintptr_t>(mapped.data());
  const std::uintptr_t begin = (at + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (at + mapped.size()) / kPage * kPage;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

void PackedWriter::make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw DeviceError("packed weights: cannot make the folder " + folder.string() + ": " +
                      error.message() + "; set REDLINE_CACHE to another folder");
}

PackedWriter::PackedWriter(const std::filesystem::path& path, const PackedLayout& layout)
    : path_(path),
      part_(std::filesystem::path(path).concat(".part-" + std::to_string(::getpid()))),
      layout_(layout),
      descriptor_(::open(part_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) refuse(part_, errno, layout.file_bytes);
}

PackedWriter::~PackedWriter() {
  ::close(descriptor_);
  ::unlink(part_.c_str());  // gone already when it was renamed
}

void PackedWriter::write(device::WorkerPool& pool,
                         const std::function<void(double, const std::string&)>& progress) {
  if (::ftruncate(descriptor_, layout_.file_bytes) != 0) refuse(part_, errno, layout_.file_bytes);
  const std::int64_t end = layout_.entries.back().offset + layout_.entries.back().bytes;
  std::vector<std::uint64_t> sums;
  for (const PackedEntry& entry : layout_.entries) {
    sums.push_back(write_matrix(entry, pool));
    forget(entry.tensor->bytes);
    const double done = static_cast<double>(entry.offset + entry.bytes);
    if (progress) progress(done / static_cast<double>(end), "packing " + entry.name);
  }
  write_at(layout_.head.data(), static_cast<std::int64_t>(layout_.head.size()), 0);
  write_at(sums.data(), static_cast<std::int64_t>(sums.size() * 8), layout_.sums_offset);
  std::error_code error;
  std::filesystem::rename(part_, path_, error);
  if (error) refuse(path_, error.value(), layout_.file_bytes);
}

std::uint64_t PackedWriter::write_matrix(const PackedEntry& entry, device::WorkerPool& pool) {
  const files::Tensor& tensor = *entry.tensor;
  const std::int64_t group_rows = entry.group_tiles * kernels::kTileRows;
  const std::int64_t group_bytes = entry.bytes / entry.tiles() * entry.group_tiles;
  std::vector<std::vector<std::byte>> buffers(pool.threads(), std::vector<std::byte>(group_bytes));
  std::atomic<std::uint64_t> sum = 0;
  pool.run(entry.groups(), [&](std::int64_t group, int worker) {
    const std::int64_t first = group * group_rows;
    const std::int64_t rows = std::min(group_rows, tensor.rows() - first);
    const auto bytes =
        std::span(buffers[worker]).first(kernels::packed_bytes(entry.type, rows, tensor.cols()));
    pack_rows(entry, first, rows, bytes.data());
    sum += checksum(bytes, group);
    write_at(bytes.data(), static_cast<std::int64_t>(bytes.size()),
             entry.offset + group * group_bytes);
  });
  return sum;
}

void PackedWriter::write_at(const void* data, std::int64_t bytes, std::int64_t offset) {
  const auto* from = static_cast<const std::byte*>(data);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_, from, bytes, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) refuse(part_, written < 0 ? errno : ENOSPC, layout_.file_bytes);
    from += written, offset += written, bytes -= written;
  }
}

}  // namespace redline::model
