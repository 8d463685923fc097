// SPDX-License-Identifier: Apache-2.0
// One trace file, read: tables by name, numbers by column. Columns this version does not know are
// listed and readable like any other. The file may be foreign, growing, or left by a killed writer.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trace/records.hpp"

namespace redline::trace {

// The traces below a path: a file, a cell folder (attempts in order), or a run folder (cells in
// order of name). InputError when there are none.
std::vector<std::filesystem::path> trace_files(const std::filesystem::path& path);

struct ColumnFacts {
  std::string name;
  std::uint64_t rows, width;
  enum class Number : std::uint8_t { UNSIGNED, SIGNED, REAL } number;
};

class Reader {
 public:
  // InputError: no trace, of a newer major version, or damaged; the file is named.
  explicit Reader(const std::filesystem::path& path);
  ~Reader();
  Reader(Reader&&) noexcept;

  const std::filesystem::path& path() const;
  bool complete() const;  // the writer closed it; else rows after the last request may be cut off
  std::string attribute(const std::string& group, const std::string& name) const;  // "" if absent
  std::vector<std::pair<std::string, std::string>> attributes(const std::string& group) const;
  std::vector<std::string> groups(const std::string& group) const;  // names of child groups

  std::vector<std::string> tables() const;  // "/steps", "/logits/target", ...
  bool has(const std::string& table) const;
  std::vector<ColumnFacts> columns(const std::string& table) const;  // in the writer's order
  std::uint64_t rows(const std::string& table) const;  // that all columns of its writer have
  // A column's values, [rows] or [rows * width]. T: std::int64_t, std::uint64_t or double.
  template <class T>
  std::vector<T> read(const std::string& table, const std::string& column, std::uint64_t from = 0,
                      std::uint64_t count = ~std::uint64_t{0}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::trace
