// SPDX-License-Identifier: Apache-2.0
// Ranks that are threads of one process, and where they wait for one another. Waiting spins briefly
// when each thread has a core, then sleeps.
#pragma once
#include <chrono>
#include <memory>

#include "parallel/communicator.hpp"

namespace redline::parallel {

class ThreadGroup {
 public:
  ThreadGroup(int ranks, std::chrono::milliseconds limit);
  ~ThreadGroup();
  ThreadGroup(const ThreadGroup&) = delete;  // communicators hold its address

  Communicator& at(int rank);  // for the thread of that rank

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace redline::parallel
