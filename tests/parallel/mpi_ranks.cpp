// SPDX-License-Identifier: Apache-2.0
// One rank of the MPI tests, run under mpirun: mpi_ranks collectives, or mpi_ranks
// (throw|stall|die) for what rank 1 does while the others wait, or mpi_ranks silent for a rank 0
// that gives no order. Exit codes are the program's: 4 for a DeviceError.
#include <signal.h>

#include <cstdio>
#include <string>
#include <thread>

#include "collectives.hpp"
#include "parallel/mpi_library.hpp"

using namespace redline;

namespace {

constexpr std::chrono::milliseconds kLimit{2000};

void misbehave(const std::string& how) {
  if (how == "throw") throw Error("out of luck");
  if (how == "stall") ::raise(SIGSTOP);
  if (how == "die") ::raise(SIGKILL);
}

}  // namespace

int main(int, char** arguments) {
  const std::string what = arguments[1];
  std::unique_ptr<parallel::Communicator> world;
  try {
    world = parallel::open_mpi(what == "collectives" ? 10 * kLimit
                               : what == "silent"    ? kLimit / 10
                                                     : kLimit);
    if (what == "silent") {
      if (world->rank() == 0) ::raise(SIGSTOP);
      std::vector<std::byte> order;
      world->broadcast(order, 0, parallel::Patience::ORDER);
    }
    if (what == "collectives") {
      tests::collectives_hold(*world);
      if (world->rank() == 0) std::printf("%d ranks hold\n", world->size());
      return 0;
    }
    tests::sums_are_in_rank_order(*world, 1000);
    if (world->rank() == 1) misbehave(what);
    tests::sums_are_in_rank_order(*world, 1000);
    return 0;
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 4;
  } catch (const std::exception& error) {
    if (world) world->fail(error.what());
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
