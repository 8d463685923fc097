// SPDX-License-Identifier: Apache-2.0
#include "experiment/progress.hpp"

#include <unistd.h>

#include <cstdio>

#include "log/log.hpp"

namespace redline::experiment {

Progress::Progress(std::string cell, std::int64_t items, std::int64_t done_before)
    : cell_(std::move(cell)),
      items_(items),
      done_before_(done_before),
      done_(done_before),
      terminal_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()),
      shown_(start_) {
  redraw(true);
}

Progress::~Progress() {
  if (drawn_) std::fputs("\n", stderr);
}

void Progress::tokens(std::int64_t count) {
  tokens_ += count;
  redraw(false);
}

void Progress::finished(const std::string& request) {
  ++done_;
  redraw(true);
  if (!terminal_) std::fprintf(stderr, "%s: %s\n", line().c_str(), request.c_str());
}

std::string Progress::line() const {
  const double passed = seconds();
  const std::int64_t done_now = done_ - done_before_;
  char text[160];
  int used = std::snprintf(text, sizeof text, "%.80s %lld/%lld", cell_.c_str(),
                           static_cast<long long>(done_), static_cast<long long>(items_));
  if (tokens_ > 0 && passed > 0)
    used += std::snprintf(text + used, sizeof text - used, ", %.1f tokens/s",
                          static_cast<double>(tokens_) / passed);
  if (done_now > 0 && done_ < items_) {
    const auto left = static_cast<long long>(passed / static_cast<double>(done_now) *
                                             static_cast<double>(items_ - done_));
    std::snprintf(text + used, sizeof text - used, ", %lld:%02lld left", left / 60, left % 60);
  }
  return text;
}

void Progress::redraw(bool now) {
  if (!terminal_ || (!now && Clock::now() - shown_ < std::chrono::milliseconds(200))) return;
  shown_ = Clock::now();
  drawn_ = true;
  std::fprintf(stderr, "\r\033[K%s", line().c_str());
}

void Narrator::say(const std::string& line) {
  using std::chrono::seconds;
  const auto now = std::chrono::steady_clock::now();
  if (!line.ends_with('%')) {
    begun_ = {};
    const std::string text = line.substr(0, line.find_last_not_of('\n') + 1);
    std::fprintf(stderr, "%s\n", text.c_str());
    logging::info(text);
    return;
  }
  if (begun_ == decltype(begun_){}) begun_ = shown_ = now;
  if (now - begun_ < seconds(1) || now - shown_ < seconds(2)) return;
  shown_ = now;
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace redline::experiment
