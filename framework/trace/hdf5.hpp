// SPDX-License-Identifier: Apache-2.0
// Owners of HDF5 1.10 objects for writing: a file, its groups and its growing data sets. Knows
// nothing of traces. Ids are plain integers here, so hdf5.h stays inside this room's .cpp files.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace redline::trace::hdf5 {

enum class Type : std::uint8_t { BOOL, U8, U16, U32, U64, I16, I32, I64, F16, F32, F64 };
std::size_t size_of(Type type);
std::string_view name_of(Type type);  // "u16"

using Id = std::int64_t;

class Handle {  // owns one id
 public:
  using Close = int (*)(Id);
  Handle() = default;
  Handle(Id id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(std::exchange(other.close_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_), std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0 && close_) close_(id_);
  }
  Id id() const { return id_; }
  Id release() { return std::exchange(id_, -1); }

 private:
  Id id_ = -1;
  Close close_ = nullptr;
};

class Object {  // what may carry attributes
 public:
  Object(Handle handle, std::string name) : handle_(std::move(handle)), name_(std::move(name)) {}
  void attribute(const char* name, std::string_view text) const;
  void attribute(const char* name, std::span<const std::string> texts) const;
  // A scalar when count is 0.
  void attribute(const char* name, Type type, const void* values, std::size_t count = 0) const;
  // Fixed width, zero-padded: may be overwritten while others read.
  void padded_attribute(const char* name, std::string_view text, std::size_t width) const;
  // Leaves the object open for ever. After a failed flush this is the safe end: closing would write
  // sizes that cover rows the disk had no room for.
  void abandon() { handle_.release(); }
  const std::string& name() const { return name_; }

 protected:
  Handle handle_;
  std::string name_;  // "/steps/kind", for messages
};

class Dataset : public Object {  // [rows, width] that grows by rows
 public:
  Dataset(Handle handle, std::string name, Type type, std::int64_t width)
      : Object(std::move(handle), std::move(name)), type_(type), width_(width) {}
  void append(std::span<const std::byte> rows);
  void flush();
  std::uint64_t rows() const { return rows_; }

 private:
  Type type_;
  std::int64_t width_;
  std::uint64_t rows_ = 0;
};

class File : public Object {
 public:
  static File create(const std::filesystem::path& path, bool swmr);  // never overwrites
  // For overwriting padded attributes only; a kill leaves a file that still opens.
  static File reopen(const std::filesystem::path& path, bool swmr);

  Object group(const std::string& path);
  // One-dimensional when width is 0.
  Dataset dataset(const std::string& path, Type type, std::uint64_t chunk_rows, std::int64_t width);
  Object text(const std::string& path, std::string_view text);
  Object texts(const std::string& path, std::span<const std::string> texts);
  void start_swmr();  // nothing but rows may be added afterwards
  void flush();
  void close();

 private:
  using Object::Object;
};

}  // namespace redline::trace::hdf5
