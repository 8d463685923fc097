// SPDX-License-Identifier: Apache-2.0
#include "parallel/mpi_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <string>

#include "redline/error.hpp"

namespace redline::parallel {

namespace {

// The core's folder, or nothing: where the two are built and installed side by side.
std::filesystem::path beside_the_core() {
  link_map* map = nullptr;
  void* const core = ::dlopen("libredline.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (!core || ::dlinfo(core, RTLD_DI_LINKMAP, &map) != 0) return {};
  return std::filesystem::path(map->l_name).parent_path();
}

}  // namespace

std::unique_ptr<Communicator> open_mpi(std::chrono::milliseconds limit) {
  // Open MPI's own parts look for its symbols among the global ones. Never closed.
  const auto file = beside_the_core() / "libredline_mpi.so";
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    throw DeviceError("parallel.backend mpi: " + std::string(::dlerror()) +
                      "; install libopenmpi-dev and build again, or choose the backend threads");
  void* const entry = ::dlsym(library, "redline_mpi_open");
  if (!entry) throw DeviceError("libredline_mpi.so has no redline_mpi_open: of another build");
  return std::unique_ptr<Communicator>(
      reinterpret_cast<decltype(&redline_mpi_open)>(entry)(limit.count()));
}

}  // namespace redline::parallel
