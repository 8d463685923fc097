// SPDX-License-Identifier: Apache-2.0
#include "trace/hdf5_input.hpp"

#include <hdf5.h>

#include <algorithm>

#include "redline/error.hpp"
#include "trace/hdf5_error.hpp"
#include "trace/hdf5_types.hpp"

namespace redline::trace::hdf5 {
namespace {

// Deflate's best case is 1032 to 1 (zlib's technical notes): a file cannot hold more numbers.
constexpr std::uint64_t kMostExpansion = 1032;
constexpr std::uint64_t kMostTextBytes = 1 << 20;

template <class T>
Id native();
template <>
Id native<std::int64_t>() {
  return H5T_NATIVE_INT64;
}
template <>
Id native<std::uint64_t>() {
  return H5T_NATIVE_UINT64;
}
template <>
Id native<double>() {
  return H5T_NATIVE_DOUBLE;
}

// HDF5 reads metadata whose checksum fails again and sleeps between, from 1 ns on twice as long
// each time: its own 100 attempts on a damaged file would outlive the reader. A writer is done in
// less than the half second that these take.
constexpr unsigned kReadAttempts = 28;

Handle open_file(const std::filesystem::path& path) {
  const Handle access(checked(H5Pcreate(H5P_FILE_ACCESS), "file access list"), H5Pclose);
  H5Pset_file_locking(access.id(), true, true);
  H5Pset_metadata_read_attempts(access.id(), kReadAttempts);
  Id id = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id());
  // A file that is being written, or whose writer was killed.
  if (id < 0) id = H5Fopen(path.c_str(), H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, access.id());
  return {id, H5Fclose};
}

std::optional<Number> number_of(Id type) {
  const H5T_class_t kind = H5Tget_class(type);
  if (H5Tget_size(type) > sizeof(double)) return std::nullopt;
  if (kind == H5T_FLOAT) return Number::REAL;
  if (kind == H5T_ENUM) return Number::UNSIGNED;
  if (kind != H5T_INTEGER) return std::nullopt;
  return H5Tget_sign(type) == H5T_SGN_NONE ? Number::UNSIGNED : Number::SIGNED;
}

std::string read_text(Id attribute, Id type) {
  if (H5Tis_variable_str(type) > 0) {
    const Handle memory = text_type();
    char* text = nullptr;
    if (H5Aread(attribute, memory.id(), &text) < 0 || !text) return "";
    std::string out(text);
    H5free_memory(text);
    return out;
  }
  std::string out(std::min<std::uint64_t>(H5Tget_size(type), kMostTextBytes), '\0');
  const Handle memory = padded_text_type(out.size());
  if (H5Aread(attribute, memory.id(), out.data()) < 0) return "";
  out.resize(std::min(out.find('\0'), out.size()));
  return out;
}

template <class T>
std::string read_numbers(Id attribute, std::uint64_t count) {
  std::vector<T> values(count);
  if (H5Aread(attribute, native<T>(), values.data()) < 0) return "";
  std::string out;
  for (const T value : values) out += (out.empty() ? "" : ", ") + std::to_string(value);
  return count > 1 ? "[" + out + "]" : out;
}

herr_t collect(hid_t, const char* name, const H5L_info_t* link, void* out) {
  if (link->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(out)->push_back(name);
  return 0;
}
herr_t collect_attribute(hid_t, const char* name, const H5A_info_t*, void* out) {
  static_cast<std::vector<std::string>*>(out)->push_back(name);
  return 0;
}

}  // namespace

template <class T>
std::vector<T> InputColumn::read(std::uint64_t from, std::uint64_t count) const {
  prepare_thread();
  from = std::min(from, rows_), count = std::min(count, rows_ - from);
  std::vector<T> out(count * width_);
  if (out.empty()) return out;
  const std::string what = "reading " + name_;
  const hsize_t start[2] = {from, 0}, block[2] = {count, width_};
  const Handle source(checked(H5Dget_space(handle_.id()), what), H5Sclose);
  checked(H5Sselect_hyperslab(source.id(), H5S_SELECT_SET, start, nullptr, block, nullptr), what);
  const Handle target(checked(H5Screate_simple(rank_, block, nullptr), what), H5Sclose);
  // HDF5 converts integers and floats, but no enum: those are read as the bytes they are.
  const Handle disk(checked(H5Dget_type(handle_.id()), what), H5Tclose);
  if (H5Tget_class(disk.id()) == H5T_ENUM && H5Tget_size(disk.id()) == 1) {
    std::vector<std::uint8_t> bytes(out.size());
    checked(H5Dread(handle_.id(), disk.id(), target.id(), source.id(), H5P_DEFAULT, bytes.data()),
            what);
    std::copy(bytes.begin(), bytes.end(), out.begin());
    return out;
  }
  if (H5Dread(handle_.id(), native<T>(), target.id(), source.id(), H5P_DEFAULT, out.data()) < 0)
    throw InputError(what + ": damaged: " + last_reason());
  return out;
}
template std::vector<std::int64_t> InputColumn::read(std::uint64_t, std::uint64_t) const;
template std::vector<std::uint64_t> InputColumn::read(std::uint64_t, std::uint64_t) const;
template std::vector<double> InputColumn::read(std::uint64_t, std::uint64_t) const;

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  prepare_thread();
  std::error_code error;
  file_bytes_ = std::filesystem::file_size(path, error);
  if (error) refuse(error.message());
  handle_ = open_file(path);
  if (handle_.id() < 0) refuse("no HDF5 file, or a damaged one: " + last_reason());
}

void InputFile::refuse(const std::string& what) const {
  throw InputError("trace " + path_.string() + ": " + what);
}

// Follows hard links only: a foreign file must not lead to other files.
Handle InputFile::open_object(const std::string& path) const {
  prepare_thread();
  for (std::size_t end = 1; end != std::string::npos && path != "/";) {
    end = path.find('/', end + 1);
    const std::string part = path.substr(0, end);
    if (H5Lexists(handle_.id(), part.c_str(), H5P_DEFAULT) <= 0) return {};
    H5L_info_t link;
    if (H5Lget_info(handle_.id(), part.c_str(), &link, H5P_DEFAULT) < 0)
      refuse("damaged at " + part);
    if (link.type != H5L_TYPE_HARD) refuse(part + " is a link to elsewhere, which is not followed");
  }
  Handle object(H5Oopen(handle_.id(), path.c_str(), H5P_DEFAULT), H5Oclose);
  if (object.id() < 0) refuse("damaged at " + path + ": " + last_reason());
  return object;
}

bool InputFile::has_group(const std::string& path) const {
  const Handle object = open_object(path);
  return object.id() >= 0 && H5Iget_type(object.id()) == H5I_GROUP;
}

namespace {
std::vector<std::string> children(Id group, H5I_type_t wanted) {
  std::vector<std::string> names, out;
  H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names);
  for (const std::string& name : names) {
    const Handle child(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
    if (child.id() >= 0 && H5Iget_type(child.id()) == wanted) out.push_back(name);
  }
  return out;
}
}  // namespace

std::vector<std::string> InputFile::groups(const std::string& path) const {
  return has_group(path) ? children(open_object(path).id(), H5I_GROUP) : std::vector<std::string>{};
}
std::vector<std::string> InputFile::datasets(const std::string& path) const {
  return has_group(path) ? children(open_object(path).id(), H5I_DATASET)
                         : std::vector<std::string>{};
}

std::optional<InputColumn> InputFile::column(const std::string& path) const {
  InputColumn out;
  out.handle_ = open_object(path);
  out.name_ = path_.string() + ":" + path;
  const Id id = out.handle_.id();
  if (id < 0 || H5Iget_type(id) != H5I_DATASET) return std::nullopt;
  const Handle space(checked(H5Dget_space(id), out.name_), H5Sclose);
  const Handle type(checked(H5Dget_type(id), out.name_), H5Tclose);
  const Handle layout(checked(H5Dget_create_plist(id), out.name_), H5Pclose);
  const std::optional<Number> number = number_of(type.id());
  out.rank_ = H5Sget_simple_extent_ndims(space.id());
  if (!number || out.rank_ < 1 || out.rank_ > 2) return std::nullopt;
  if (H5Pget_layout(layout.id()) == H5D_VIRTUAL || H5Pget_external_count(layout.id()) > 0)
    refuse(path + " keeps its data in another file, which is not followed");
  hsize_t size[2] = {0, 1};
  H5Sget_simple_extent_dims(space.id(), size, nullptr);
  out.rows_ = size[0], out.width_ = size[1], out.number_ = *number;
  const std::uint64_t most = file_bytes_ * kMostExpansion / H5Tget_size(type.id());
  if (out.width_ == 0 || out.rows_ > most / out.width_)
    refuse(path + " claims " + std::to_string(out.rows_) + " x " + std::to_string(out.width_) +
           " numbers, more than a file of " + std::to_string(file_bytes_) + " bytes can hold");
  return out;
}

std::optional<std::string> InputFile::attribute(const std::string& group,
                                                const std::string& name) const {
  const Handle object = open_object(group);
  if (object.id() < 0 || H5Aexists(object.id(), name.c_str()) <= 0) return std::nullopt;
  const Handle attribute(H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (attribute.id() < 0 || type.id() < 0 || space.id() < 0) refuse("damaged attribute " + name);
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (count < 1 || count > 64) return std::nullopt;
  if (H5Tget_class(type.id()) == H5T_STRING && count == 1)
    return read_text(attribute.id(), type.id());
  const std::optional<Number> number = number_of(type.id());
  if (number == Number::REAL) return read_numbers<double>(attribute.id(), count);
  if (number) return read_numbers<std::int64_t>(attribute.id(), count);
  return std::nullopt;
}

std::vector<std::string> InputFile::attribute_names(const std::string& group) const {
  const Handle object = open_object(group);
  std::vector<std::string> out;
  if (object.id() >= 0)
    H5Aiterate2(object.id(), H5_INDEX_NAME, H5_ITER_INC, nullptr, collect_attribute, &out);
  return out;
}

std::vector<std::string> InputFile::texts(const std::string& group, const std::string& name) const {
  const Handle object = open_object(group);
  std::vector<std::string> out;
  if (object.id() < 0 || H5Aexists(object.id(), name.c_str()) <= 0) return out;
  const Handle attribute(H5Aopen(object.id(), name.c_str(), H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute.id()), H5Tclose);
  const Handle space(H5Aget_space(attribute.id()), H5Sclose);
  if (attribute.id() < 0 || H5Tis_variable_str(type.id()) <= 0) return out;
  const hssize_t count = H5Sget_simple_extent_npoints(space.id());
  if (count < 1 || count > 4096) return out;
  std::vector<char*> pointers(count, nullptr);
  const Handle memory = text_type();
  if (H5Aread(attribute.id(), memory.id(), pointers.data()) < 0)
    refuse("damaged attribute " + name);
  for (char* text : pointers) {
    out.emplace_back(text ? text : "");
    H5free_memory(text);
  }
  return out;
}

}  // namespace redline::trace::hdf5
