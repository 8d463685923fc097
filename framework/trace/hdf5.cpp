// SPDX-License-Identifier: Apache-2.0
#include "trace/hdf5.hpp"

#include <hdf5.h>

#include <vector>

#include "redline/error.hpp"
#include "trace/hdf5_error.hpp"
#include "trace/hdf5_types.hpp"

namespace redline::trace::hdf5 {
namespace {

constexpr hsize_t kPageBytes = 4096;  // of the kernel's page cache; larger caches divide by it

Handle file_access(bool swmr) {
  Handle access(checked(H5Pcreate(H5P_FILE_ACCESS), "file access list"), H5Pclose);
  // Fixed bounds: a newer library must not write what 1.10 cannot read.
  H5Pset_libver_bounds(access.id(), swmr ? H5F_LIBVER_V110 : H5F_LIBVER_EARLIEST, H5F_LIBVER_V110);
  H5Pset_file_locking(access.id(), true, true);  // a file system without locks is not an error
  return access;
}

// A kill may cut a write to the page cache short between two pages, never within one. Metadata that
// lie within a page are so written whole or not at all, and a killed file's checksums hold.
Handle file_creation(bool swmr) {
  Handle creation(checked(H5Pcreate(H5P_FILE_CREATE), "file creation list"), H5Pclose);
  if (!swmr) return creation;  // the old format knows no pages
  H5Pset_file_space_strategy(creation.id(), H5F_FSPACE_STRATEGY_PAGE, false, 1);
  H5Pset_file_space_page_size(creation.id(), kPageBytes);
  return creation;
}

Handle scalar() { return {checked(H5Screate(H5S_SCALAR), "scalar space"), H5Sclose}; }
Handle vector_space(hsize_t size) {
  return {checked(H5Screate_simple(1, &size, nullptr), "vector space"), H5Sclose};
}

// HDF5 takes variable-length text as C strings.
std::vector<const char*> c_strings(std::span<const std::string> texts) {
  std::vector<const char*> out;
  for (const std::string& text : texts) out.push_back(text.c_str());
  return out;
}

void write_attribute(Id object, const std::string& where, const char* name, const Handle& type,
                     const Handle& space, const void* value) {
  const std::string what = "writing attribute " + std::string(name) + " of " + where;
  if (H5Aexists(object, name) > 0) {
    const Handle old(checked(H5Aopen(object, name, H5P_DEFAULT), what), H5Aclose);
    checked(H5Awrite(old.id(), type.id(), value), what);
    return;
  }
  const Handle made(
      checked(H5Acreate2(object, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT), what),
      H5Aclose);
  checked(H5Awrite(made.id(), type.id(), value), what);
}

Handle creating_parents() {
  Handle list(checked(H5Pcreate(H5P_LINK_CREATE), "link list"), H5Pclose);
  H5Pset_create_intermediate_group(list.id(), 1);
  return list;
}

// A data set of variable-length texts, written once.
Handle write_texts(Id file, const std::string& path, const Handle& space,
                   const char* const* texts) {
  const Handle type = text_type(), links = creating_parents();
  Handle made(checked(H5Dcreate2(file, path.c_str(), type.id(), space.id(), links.id(), H5P_DEFAULT,
                                 H5P_DEFAULT),
                      "creating " + path),
              H5Dclose);
  checked(H5Dwrite(made.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, texts), "writing " + path);
  return made;
}

}  // namespace

void Object::attribute(const char* name, std::string_view text) const {
  const std::string owned(text);
  const char* pointer = owned.c_str();
  write_attribute(handle_.id(), name_, name, text_type(), scalar(), &pointer);
}
void Object::attribute(const char* name, std::span<const std::string> texts) const {
  const std::vector<const char*> pointers = c_strings(texts);
  write_attribute(handle_.id(), name_, name, text_type(), vector_space(texts.size()),
                  pointers.data());
}
void Object::attribute(const char* name, Type type, const void* values, std::size_t count) const {
  write_attribute(handle_.id(), name_, name, type_of(type),
                  count == 0 ? scalar() : vector_space(count), values);
}
void Object::padded_attribute(const char* name, std::string_view text, std::size_t width) const {
  std::string padded(text.substr(0, width));
  padded.resize(width, '\0');
  write_attribute(handle_.id(), name_, name, padded_text_type(width), scalar(), padded.data());
}

void Dataset::append(std::span<const std::byte> rows) {
  prepare_thread();
  const hsize_t row_values = width_ == 0 ? 1 : width_;
  const hsize_t count = rows.size() / (row_values * size_of(type_));
  if (count == 0) return;
  const std::string what = "appending to " + name_;
  const hsize_t size[2] = {rows_ + count, row_values}, start[2] = {rows_, 0};
  const hsize_t block[2] = {count, row_values};
  const int rank = width_ == 0 ? 1 : 2;
  checked(H5Dset_extent(handle_.id(), size), what);
  const Handle target(checked(H5Dget_space(handle_.id()), what), H5Sclose);
  checked(H5Sselect_hyperslab(target.id(), H5S_SELECT_SET, start, nullptr, block, nullptr), what);
  const Handle source(checked(H5Screate_simple(rank, block, nullptr), what), H5Sclose);
  const Handle type = type_of(type_);
  checked(H5Dwrite(handle_.id(), type.id(), source.id(), target.id(), H5P_DEFAULT, rows.data()),
          what);
  rows_ += count;
}

void Dataset::flush() {
  prepare_thread();
  checked(H5Dflush(handle_.id()), "flushing " + name_);
}

File File::create(const std::filesystem::path& path, bool swmr) {
  prepare_thread();
  const Handle creation = file_creation(swmr), access = file_access(swmr);
  const Id id = H5Fcreate(path.c_str(), H5F_ACC_EXCL, creation.id(), access.id());
  if (id < 0) throw InputError("trace " + path.string() + " cannot be created: " + last_reason());
  return {Handle(id, H5Fclose), path.string()};
}

File File::reopen(const std::filesystem::path& path, bool swmr) {
  prepare_thread();
  // Under a plain read-write open a kill would leave a file that no reader accepts; one killed
  // under SWMR opens (measured with 1.10.8).
  const Handle access = file_access(swmr);
  const unsigned flags = swmr ? H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE : H5F_ACC_RDWR;
  const Id id = checked(H5Fopen(path.c_str(), flags, access.id()), "reopening " + path.string());
  return {Handle(id, H5Fclose), path.string()};
}

Object File::group(const std::string& path) {
  if (path == "/")
    return {Handle(checked(H5Gopen2(handle_.id(), "/", H5P_DEFAULT), path), H5Gclose), path};
  if (H5Lexists(handle_.id(), path.c_str(), H5P_DEFAULT) > 0)
    return {Handle(checked(H5Gopen2(handle_.id(), path.c_str(), H5P_DEFAULT), path), H5Gclose),
            path};
  const Handle links = creating_parents();
  return {
      Handle(checked(H5Gcreate2(handle_.id(), path.c_str(), links.id(), H5P_DEFAULT, H5P_DEFAULT),
                     "creating " + path),
             H5Gclose),
      path};
}

Dataset File::dataset(const std::string& path, Type type, std::uint64_t chunk_rows,
                      std::int64_t width) {
  const int rank = width == 0 ? 1 : 2;
  const hsize_t columns = width == 0 ? 1 : width;
  const hsize_t size[2] = {0, columns}, most[2] = {H5S_UNLIMITED, columns};
  const hsize_t chunk[2] = {chunk_rows, columns};
  const Handle space(checked(H5Screate_simple(rank, size, most), path), H5Sclose);
  const Handle layout(checked(H5Pcreate(H5P_DATASET_CREATE), path), H5Pclose);
  checked(H5Pset_chunk(layout.id(), rank, chunk), path);
  const Handle links = creating_parents(), disk_type = type_of(type);
  Handle made(checked(H5Dcreate2(handle_.id(), path.c_str(), disk_type.id(), space.id(), links.id(),
                                 layout.id(), H5P_DEFAULT),
                      "creating " + path),
              H5Dclose);
  return {std::move(made), path, type, width};
}

Object File::text(const std::string& path, std::string_view text) {
  const std::string owned(text);
  const char* pointer = owned.c_str();
  return {write_texts(handle_.id(), path, scalar(), &pointer), path};
}
Object File::texts(const std::string& path, std::span<const std::string> texts) {
  const std::vector<const char*> pointers = c_strings(texts);
  return {write_texts(handle_.id(), path, vector_space(texts.size()), pointers.data()), path};
}

void File::start_swmr() { checked(H5Fstart_swmr_write(handle_.id()), "starting SWMR on " + name_); }
void File::flush() {
  prepare_thread();
  checked(H5Fflush(handle_.id(), H5F_SCOPE_GLOBAL), "flushing " + name_);
}
void File::close() {
  prepare_thread();
  checked(H5Fclose(handle_.release()), "closing " + name_);
}

}  // namespace redline::trace::hdf5
