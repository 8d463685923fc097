// SPDX-License-Identifier: Apache-2.0
// The ranks of a run as rank 0 sees them: threads of this process that follow, or other processes
// under a launcher. It owns what carries them and tells them to stop.
#pragma once
#include <chrono>
#include <memory>

#include "model/lead.hpp"

namespace redline::model {

class Ranks {
 public:
  // Followers are threads of this process, each with a device of so many threads.
  static std::unique_ptr<Ranks> of_threads(int ranks, int threads, kernels::Isa isa,
                                           std::chrono::milliseconds limit);
  // Followers are the other ranks of the world, which serve on their own.
  static std::unique_ptr<Ranks> of_processes(std::unique_ptr<parallel::Communicator> world);
  virtual ~Ranks() = default;
  virtual Lead& lead() = 0;
};

}  // namespace redline::model
