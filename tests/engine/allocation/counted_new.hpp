// SPDX-License-Identifier: Apache-2.0
// operator new of a test program that counts. Every allocation of every thread between the making
// and the end of a NewCount is counted, but for one thread that may be exempt.
#pragma once
#include <cstdint>
#include <set>

namespace tests {

using ThreadId = int;  // of the kernel

class NewCount {
 public:
  explicit NewCount(ThreadId exempt);
  ~NewCount();
  NewCount(const NewCount&) = delete;  // there is one at a time
  std::int64_t allocations() const;
  std::int64_t bytes() const;
  // Where the first ones came from, each place once, as file(+offset) lines on stderr.
  void print_places() const;
};

std::set<ThreadId> threads_of_process();

}  // namespace tests
