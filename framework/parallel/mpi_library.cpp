// SPDX-License-Identifier: Apache-2.0
#include "parallel/mpi_library.hpp"

#include <dlfcn.h>

#include <string>

#include "redline/error.hpp"

namespace redline::parallel {

std::unique_ptr<Communicator> open_mpi(std::chrono::milliseconds limit) {
  // Open MPI's own parts look for its symbols among the global ones. Never closed.
  void* const library = ::dlopen("libredline_mpi.so", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    throw DeviceError("parallel.backend mpi: " + std::string(::dlerror()) +
                      "; install libopenmpi-dev and build again, or choose the backend threads");
  void* const entry = ::dlsym(library, "redline_mpi_open");
  if (!entry) throw DeviceError("libredline_mpi.so has no redline_mpi_open: of another build");
  return std::unique_ptr<Communicator>(
      reinterpret_cast<decltype(&redline_mpi_open)>(entry)(limit.count()));
}

}  // namespace redline::parallel
