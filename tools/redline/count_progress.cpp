// SPDX-License-Identifier: Apache-2.0
#include "redline/count_progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace redline::tool {

CountProgress::CountProgress(std::string name, std::string unit, std::int64_t total,
                             std::int64_t done_before)
    : name_(std::move(name)),
      unit_(std::move(unit)),
      total_(total),
      done_before_(done_before),
      terminal_(::isatty(STDERR_FILENO) == 1) {}

void CountProgress::update(std::int64_t done) {
  const auto now = Clock::now();
  if (now - shown_ < std::chrono::milliseconds(terminal_ ? 200 : 20'000)) return;
  shown_ = now;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done - done_before_) / seconds;
  const double left = rate > 0 ? static_cast<double>(total_ - done) / rate : 0;
  std::fprintf(stderr, "%s%s: %lld of %lld %s, %.0f a second, %d:%02d left%s",
               terminal_ ? "\r\033[K" : "", name_.c_str(), static_cast<long long>(done),
               static_cast<long long>(total_), unit_.c_str(), rate, static_cast<int>(left) / 60,
               static_cast<int>(left) % 60, terminal_ ? "" : "\n");
}

void CountProgress::end() const {
  if (terminal_ && drawn_) std::fprintf(stderr, "\n");
}

}  // namespace redline::tool
