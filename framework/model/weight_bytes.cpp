// SPDX-License-Identifier: Apache-2.0
#include "model/weight_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "redline/error.hpp"

namespace redline::model {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t round_up(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

}  // namespace

struct WeightBytes::Copy {
  Copy(const std::filesystem::path& file, std::size_t bytes)
      : path(file), descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), size(bytes) {
    if (descriptor < 0) throw InputError(path.string() + ": " + std::strerror(errno));
    reserved = round_up(size) + kHugePage;
    memory = ::mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      ::close(descriptor);
      throw DeviceError("no room for " + std::to_string(size) + " bytes of weights in memory of " +
                        "this process; free memory, or load a smaller model");
    }
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    start = static_cast<std::byte*>(memory) + (round_up(address) - address);
    ::madvise(start, round_up(size), MADV_HUGEPAGE);
  }
  ~Copy() {
    ::munmap(memory, reserved);
    ::close(descriptor);
  }
  Copy(const Copy&) = delete;  // owns both

  std::filesystem::path path;
  int descriptor;
  std::size_t size, reserved = 0;
  void* memory = nullptr;
  std::byte* start = nullptr;  // at a huge page
};

bool WeightBytes::has_huge_pages() {
  std::string choice;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), choice);
  return choice.find("[always]") != std::string::npos ||
         choice.find("[madvise]") != std::string::npos;
}

WeightBytes::WeightBytes(const std::filesystem::path& path, bool in_huge_pages) {
  if (!in_huge_pages || !has_huge_pages()) {
    mapped_ = files::MappedFile(path);
    bytes_ = mapped_.bytes();
    return;
  }
  copy_ = std::make_shared<Copy>(path, std::filesystem::file_size(path));
  bytes_ = {copy_->start, copy_->size};
}

void WeightBytes::bring(std::int64_t offset, std::int64_t size) const {
  if (!copy_) return;
  for (std::int64_t done = 0; done < size;) {
    const ssize_t got = ::pread(copy_->descriptor, copy_->start + offset + done,
                                static_cast<std::size_t>(size - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw InputError(copy_->path.string() + ": cannot be read at byte " +
                       std::to_string(offset + done) + ": " +
                       (got < 0 ? std::strerror(errno) : "it has become shorter"));
    done += got;
  }
}

}  // namespace redline::model
