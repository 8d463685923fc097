// SPDX-License-Identifier: Apache-2.0
// Opens redline_mpi, the one library that knows MPI.
#pragma once
#include <chrono>
#include <memory>

#include "parallel/communicator.hpp"

namespace redline::parallel {

// This process among those that a launcher (mpirun) started with it; once a process, on its main
// thread. DeviceError: the library is not there.
std::unique_ptr<Communicator> open_mpi(std::chrono::milliseconds limit);

}  // namespace redline::parallel

extern "C" redline::parallel::Communicator* redline_mpi_open(std::int64_t limit_ms);
