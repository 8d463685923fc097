// SPDX-License-Identifier: Apache-2.0
#include "trace/reader.hpp"

#include <algorithm>

#include "redline/error.hpp"
#include "trace/hdf5_input.hpp"
#include "trace/schema.hpp"

namespace redline::trace {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> traces_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("trace-") && name.ends_with(".h5")) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

void add_tables(const hdf5::InputFile& file, const std::string& group,
                std::vector<std::string>& out) {
  for (const std::string& name : file.groups(group)) {
    const std::string path = (group == "/" ? "" : group) + "/" + name;
    if (file.attribute(path, "encoding-type") == "table")
      out.push_back(path);
    else if (std::count(path.begin(), path.end(), '/') < 4)
      add_tables(file, path, out);
  }
}

}  // namespace

std::vector<fs::path> trace_files(const fs::path& path) {
  if (fs::is_regular_file(path)) return {path};
  if (!fs::is_directory(path))
    throw InputError("trace " + path.string() + ": no such file or folder");
  std::vector<fs::path> out = traces_in(path);
  if (out.empty() && fs::is_directory(path / "cells")) {
    std::vector<fs::path> cells;
    for (const fs::directory_entry& cell : fs::directory_iterator(path / "cells"))
      if (cell.is_directory()) cells.push_back(cell.path());
    std::sort(cells.begin(), cells.end());
    for (const fs::path& cell : cells)
      for (const fs::path& file : traces_in(cell)) out.push_back(file);
  }
  if (out.empty())
    throw InputError("trace " + path.string() +
                     ": no trace-NNN.h5 in this folder or in its cells/");
  return out;
}

struct Reader::Impl {
  explicit Impl(const fs::path& path) : path(path), file(path) {}
  fs::path path;
  hdf5::InputFile file;
};

Reader::Reader(const fs::path& path) : impl_(std::make_unique<Impl>(path)) {
  const std::string format = attribute("/", "format"),
                    version = attribute("/", "format_version_text");
  if (format != schema::kFormat)
    throw InputError("trace " + path.string() + ": format \"" + format + "\" where \"" +
                     std::string(schema::kFormat) + "\" was expected");
  if (std::atoi(version.c_str()) != schema::kMajor)
    throw InputError("trace " + path.string() + ": format version " + version +
                     ", this program reads " + std::to_string(schema::kMajor) + ".x");
}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;

const fs::path& Reader::path() const { return impl_->path; }
bool Reader::complete() const { return attribute("/", "state") == "complete"; }

std::string Reader::attribute(const std::string& group, const std::string& name) const {
  return impl_->file.attribute(group, name).value_or("");
}
std::vector<std::pair<std::string, std::string>> Reader::attributes(
    const std::string& group) const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string& name : impl_->file.attribute_names(group))
    if (auto value = impl_->file.attribute(group, name)) out.emplace_back(name, *value);
  return out;
}
std::vector<std::string> Reader::groups(const std::string& group) const {
  return impl_->file.groups(group);
}

std::vector<std::string> Reader::tables() const {
  std::vector<std::string> out;
  add_tables(impl_->file, "/", out);
  return out;
}
bool Reader::has(const std::string& table) const { return impl_->file.has_group(table); }

std::vector<ColumnFacts> Reader::columns(const std::string& table) const {
  std::vector<std::string> names = impl_->file.texts(table, "column-order");
  for (const std::string& name : impl_->file.datasets(table))  // added by another program
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  std::vector<ColumnFacts> out;
  for (const std::string& name : names)
    if (const auto column = impl_->file.column(table + "/" + name))
      out.push_back({name, column->rows(), column->width(),
                     static_cast<ColumnFacts::Number>(column->number())});
  return out;
}

// Only the columns the writer declared count: one that another program added may be shorter.
std::uint64_t Reader::rows(const std::string& table) const {
  std::vector<std::string> names = impl_->file.texts(table, "column-order");
  if (names.empty()) names = impl_->file.datasets(table);
  std::uint64_t rows = names.empty() ? 0 : ~std::uint64_t{0};
  for (const std::string& name : names) {
    const auto column = impl_->file.column(table + "/" + name);
    rows = std::min(rows, column ? column->rows() : 0);
  }
  return rows;
}

template <class T>
std::vector<T> Reader::read(const std::string& table, const std::string& column, std::uint64_t from,
                            std::uint64_t count) const {
  const auto found = impl_->file.column(table + "/" + column);
  if (!found)
    throw InputError("trace " + path().string() + ": table " + table + " has no column " + column);
  return found->read<T>(from, count);
}
template std::vector<std::int64_t> Reader::read(const std::string&, const std::string&,
                                                std::uint64_t, std::uint64_t) const;
template std::vector<std::uint64_t> Reader::read(const std::string&, const std::string&,
                                                 std::uint64_t, std::uint64_t) const;
template std::vector<double> Reader::read(const std::string&, const std::string&, std::uint64_t,
                                          std::uint64_t) const;

}  // namespace redline::trace
