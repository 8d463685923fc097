// SPDX-License-Identifier: Apache-2.0
// HDF5 data types of our columns, on disk and in memory. Internal to this room.
#pragma once
#include "trace/hdf5.hpp"

namespace redline::trace::hdf5 {

// The same type serves disk and memory: all machines of the project are little-endian.
Handle type_of(Type type);
Handle text_type();                          // variable-length UTF-8
Handle padded_text_type(std::size_t width);  // fixed-length UTF-8

}  // namespace redline::trace::hdf5
