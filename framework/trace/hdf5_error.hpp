// SPDX-License-Identifier: Apache-2.0
// HDF5 calls that failed, as Errors with the library's innermost reason. Internal to this room.
#pragma once
#include <string>

#include "trace/hdf5.hpp"

namespace redline::trace::hdf5 {

void prepare_thread();  // no messages on stderr, no filter plugins, no exit handler; cheap
std::string last_reason();
// Throws Error "what: reason" when an HDF5 call returned a negative number.
Id checked(Id result, const std::string& what);

}  // namespace redline::trace::hdf5
