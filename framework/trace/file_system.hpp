// SPDX-License-Identifier: Apache-2.0
// What lies below a path. HDF5's SWMR needs writes to be seen in order, which network file systems
// do not promise.
#pragma once
#include <filesystem>
#include <string>

namespace redline::trace {

// "nfs", "smb", ...; "" for a local file system.
std::string network_file_system(const std::filesystem::path& folder);

}  // namespace redline::trace
