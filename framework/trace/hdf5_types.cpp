// SPDX-License-Identifier: Apache-2.0
#include "trace/hdf5_types.hpp"

#include <hdf5.h>

#include <array>
#include <bit>

#include "trace/hdf5_error.hpp"

namespace redline::trace::hdf5 {
namespace {

static_assert(sizeof(hid_t) == sizeof(Id));
static_assert(std::endian::native == std::endian::little);

struct TypeFact {
  std::string_view name;
  std::size_t size;
};
constexpr std::array<TypeFact, 11> kTypes = {{{"bool", 1},
                                              {"u8", 1},
                                              {"u16", 2},
                                              {"u32", 4},
                                              {"u64", 8},
                                              {"i16", 2},
                                              {"i32", 4},
                                              {"i64", 8},
                                              {"f16", 2},
                                              {"f32", 4},
                                              {"f64", 8}}};

// As h5py writes bool, so that it reads as bool.
Id bool_type() {
  const Id type = checked(H5Tenum_create(H5T_STD_I8LE), "bool type");
  const std::int8_t no = 0, yes = 1;
  H5Tenum_insert(type, "FALSE", &no);
  H5Tenum_insert(type, "TRUE", &yes);
  return type;
}

Id half_type() {  // IEEE 754 binary16: sign at 15, five exponent bits at 10, ten mantissa bits
  const Id type = checked(H5Tcopy(H5T_IEEE_F32LE), "half type");
  H5Tset_fields(type, 15, 10, 5, 0, 10);
  H5Tset_size(type, 2);
  H5Tset_ebias(type, 15);
  return type;
}

Id make(Type type) {
  switch (type) {
    case Type::BOOL:
      return bool_type();
    case Type::U8:
      return H5Tcopy(H5T_STD_U8LE);
    case Type::U16:
      return H5Tcopy(H5T_STD_U16LE);
    case Type::U32:
      return H5Tcopy(H5T_STD_U32LE);
    case Type::U64:
      return H5Tcopy(H5T_STD_U64LE);
    case Type::I16:
      return H5Tcopy(H5T_STD_I16LE);
    case Type::I32:
      return H5Tcopy(H5T_STD_I32LE);
    case Type::I64:
      return H5Tcopy(H5T_STD_I64LE);
    case Type::F16:
      return half_type();
    case Type::F32:
      return H5Tcopy(H5T_IEEE_F32LE);
    case Type::F64:
      return H5Tcopy(H5T_IEEE_F64LE);
  }
  return -1;
}

Handle string_type(std::size_t width) {
  Handle type(checked(H5Tcopy(H5T_C_S1), "string type"), H5Tclose);
  H5Tset_size(type.id(), width);
  H5Tset_strpad(type.id(), width == H5T_VARIABLE ? H5T_STR_NULLTERM : H5T_STR_NULLPAD);
  H5Tset_cset(type.id(), H5T_CSET_UTF8);
  return type;
}

}  // namespace

std::size_t size_of(Type type) { return kTypes[static_cast<std::size_t>(type)].size; }
std::string_view name_of(Type type) { return kTypes[static_cast<std::size_t>(type)].name; }

Handle type_of(Type type) { return {checked(make(type), "HDF5 type"), H5Tclose}; }
Handle text_type() { return string_type(H5T_VARIABLE); }
Handle padded_text_type(std::size_t width) { return string_type(width); }

}  // namespace redline::trace::hdf5
