// SPDX-License-Identifier: Apache-2.0
#include "redline/progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace redline::tool {

ByteProgress::ByteProgress(std::string name, std::uint64_t total_bytes)
    : name_(std::move(name)), total_bytes_(total_bytes), terminal_(::isatty(STDERR_FILENO) == 1) {}

void ByteProgress::update(std::uint64_t done_bytes) {
  if (done_bytes == 0) return;
  const auto now = Clock::now();
  if (!begun_) {
    begun_ = true;
    start_ = now;
    first_bytes_ = done_bytes;  // what an earlier try left does not count for the rate
  } else if (now - shown_ < std::chrono::milliseconds(terminal_ ? 200 : 5000)) {
    return;
  }
  shown_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const bool counts = seconds > 0.1 && done_bytes > first_bytes_;
  const double rate = counts ? static_cast<double>(done_bytes - first_bytes_) / seconds : 0;
  std::fprintf(stderr, "%s%s: %s of %s (%.0f %%), %s/s%s", terminal_ ? "\r\033[K" : "",
               name_.c_str(), megabytes(done_bytes).c_str(), megabytes(total_bytes_).c_str(),
               100.0 * static_cast<double>(done_bytes) / static_cast<double>(total_bytes_),
               megabytes(static_cast<std::uint64_t>(rate)).c_str(), terminal_ ? "" : "\n");
}

void ByteProgress::end() {
  if (terminal_ && begun_) std::fprintf(stderr, "\n");
}

std::string megabytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

}  // namespace redline::tool
