// SPDX-License-Identifier: Apache-2.0
// Reading HDF5 files that anyone may have written: hard links only, no external or virtual storage,
// no filter plugins, sizes checked against the file before memory is taken. Internal to this room.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "trace/hdf5.hpp"

namespace redline::trace::hdf5 {

enum class Number : std::uint8_t { UNSIGNED, SIGNED, REAL };

class InputColumn {  // [rows] or [rows, width] numbers
 public:
  std::uint64_t rows() const { return rows_; }
  std::uint64_t width() const { return width_; }
  Number number() const { return number_; }
  // Values of rows [from, from + count), converted; T: std::int64_t, std::uint64_t or double.
  template <class T>
  std::vector<T> read(std::uint64_t from, std::uint64_t count) const;

 private:
  friend class InputFile;
  Handle handle_;
  std::string name_;
  std::uint64_t rows_ = 0, width_ = 1;
  int rank_ = 1;
  Number number_ = Number::UNSIGNED;
};

class InputFile {  // every failure is an InputError that names the file
 public:
  explicit InputFile(const std::filesystem::path& path);

  bool has_group(const std::string& path) const;
  std::vector<std::string> groups(const std::string& path) const;    // names of child groups
  std::vector<std::string> datasets(const std::string& path) const;  // names of child data sets
  std::optional<InputColumn> column(const std::string& path) const;  // none: absent, or not numbers
  // Text of an attribute; numbers as text; none when absent or of another kind.
  std::optional<std::string> attribute(const std::string& group, const std::string& name) const;
  std::vector<std::string> attribute_names(const std::string& group) const;
  std::vector<std::string> texts(const std::string& group, const std::string& name) const;

 private:
  Handle open_object(const std::string& path) const;  // an empty handle when absent
  [[noreturn]] void refuse(const std::string& what) const;
  std::filesystem::path path_;
  std::uint64_t file_bytes_ = 0;
  Handle handle_;
};

}  // namespace redline::trace::hdf5
