// SPDX-License-Identifier: Apache-2.0
// How far a long transfer is: one line that renews itself on a terminal, a line now and then
// elsewhere.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace redline::tool {

class ByteProgress {
 public:
  ByteProgress(std::string name, std::uint64_t total_bytes);
  void update(std::uint64_t done_bytes);
  void end();  // leaves the terminal's line

 private:
  using Clock = std::chrono::steady_clock;
  std::string name_;
  std::uint64_t total_bytes_, first_bytes_ = 0;
  bool terminal_, begun_ = false;
  Clock::time_point start_, shown_;
};

std::string megabytes(std::uint64_t bytes);  // "98.4 MB"

}  // namespace redline::tool
