// SPDX-License-Identifier: Apache-2.0
// How far a long count is, on stderr: one line that renews itself on a terminal, a line now and
// then elsewhere.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace redline::tool {

class CountProgress {
 public:
  CountProgress(std::string name, std::string unit, std::int64_t total, std::int64_t done_before);
  void update(std::int64_t done);
  void end() const;  // leaves the terminal's line

 private:
  using Clock = std::chrono::steady_clock;
  std::string name_, unit_;
  std::int64_t total_, done_before_;
  bool terminal_, drawn_ = false;
  Clock::time_point start_ = Clock::now(), shown_ = Clock::now();
};

}  // namespace redline::tool
