// SPDX-License-Identifier: Apache-2.0
// Runs a function as each rank of a group of threads; what a rank throws ends the others too.
#pragma once
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "parallel/thread_group.hpp"
#include "redline/error.hpp"

namespace redline::tests {

inline constexpr std::chrono::milliseconds kPatient{60000}, kImpatient{200};

// What each rank threw; empty: nothing.
inline std::vector<std::string> run_ranks(int ranks,
                                          const std::function<void(parallel::Communicator&)>& body,
                                          std::chrono::milliseconds limit = kPatient) {
  parallel::ThreadGroup group(ranks, limit);
  std::vector<std::string> thrown(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(group.at(rank));
      } catch (const std::exception& error) {
        thrown[rank] = error.what();
        group.at(rank).fail(error.what());
      }
    });
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

}  // namespace redline::tests
