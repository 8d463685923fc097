// SPDX-License-Identifier: Apache-2.0
// Memory that two processes see. It has no name, so nothing is left of it when both are gone,
// however they went.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "redline/error.hpp"

namespace piped {

// Owned; above those a started process is given, and closed in all it is not given to.
class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file < 0 ? -1 : ::fcntl(file, F_DUPFD_CLOEXEC, kFirst)) {
    const int why = errno;
    if (file >= 0) ::close(file);
    if (file_ < 0) throw redline::Error(std::string("no descriptor: ") + std::strerror(why));
  }
  ~Descriptor() { ::close(file_); }
  Descriptor(const Descriptor&) = delete;  // owns the descriptor
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return file_; }

 private:
  static constexpr int kFirst = 10;
  int file_;
};

class Memory {
 public:
  Memory() : file_(::memfd_create("redline-draft-pipe", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    ::fcntl(file(), F_ADD_SEALS, F_SEAL_SHRINK);  // the other side must not take pages away
    hold(1);
  }
  ~Memory() {
    if (data_) ::munmap(data_, size_);
  }
  Memory(const Memory&) = delete;  // owns the map
  Memory& operator=(const Memory&) = delete;

  int file() const { return file_.get(); }
  std::byte* data() const { return data_; }

  // Grows to at least so many bytes; what it held may move.
  void hold(std::size_t bytes) {
    if (bytes <= size_) return;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t size = (std::max(bytes, 2 * size_) + page - 1) / page * page;
    void* map = MAP_FAILED;
    if (::ftruncate(file(), static_cast<off_t>(size)) == 0)
      map = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file(), 0);
    if (map == MAP_FAILED)
      throw redline::Error("no " + std::to_string(size) +
                           " bytes to share: " + std::strerror(errno) + "; draft fewer sequences");
    if (data_) ::munmap(data_, size_);
    data_ = static_cast<std::byte*>(map);
    size_ = size;
  }

  template <class T>
  void put(std::size_t at, std::span<const T> values) {
    if (!values.empty()) std::memcpy(data_ + at, values.data(), values.size_bytes());
  }
  template <class T>
  void get(std::size_t at, std::span<T> values) const {
    if (!values.empty()) std::memcpy(values.data(), data_ + at, values.size_bytes());
  }

 private:
  Descriptor file_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace piped
