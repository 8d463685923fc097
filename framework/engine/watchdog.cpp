// SPDX-License-Identifier: Apache-2.0
#include "engine/watchdog.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace redline::engine {
namespace {

constexpr int kLooksPerLimit = 4;  // a call is named at most a quarter late
constexpr std::size_t kCallsAtOnce = 256;
constexpr double kLeastPause_s = 1e-3, kLongestPause_s = 0.25;

std::string brief(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

}  // namespace

Watchdog::Watchdog(const Limits& limits, Say warn) : limits_(limits), warn_(std::move(warn)) {
  running_.reserve(kCallsAtOnce);  // later calls allocate nothing, on whatever thread
  thread_ = std::thread([this] { run(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Watchdog::on_stuck(Say stuck) {
  const std::lock_guard lock(mutex_);
  stuck_ = std::move(stuck);
}

std::vector<Watchdog::Running>::iterator Watchdog::innermost() {
  const auto self = std::this_thread::get_id();
  return std::ranges::find_if(
      running_, [self](const Running& at) { return at.is_inner && at.thread == self; });
}

void Watchdog::enter(const step::PluginCall& call) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (const auto outer = innermost(); outer != running_.end()) {
    outer->before += now - outer->since;
    outer->is_inner = false;
  }
  running_.push_back({.thread = std::this_thread::get_id(), .call = call, .since = now});
}

void Watchdog::leave() {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  const auto ended = innermost();
  if (const double seconds = ended->seconds(now); ended->call.who && seconds >= limits_.slow_s)
    slow_.push_back({ended->call.sequence, seconds});
  const auto self = ended->thread;
  const auto outer = running_.erase(ended);
  for (auto at = std::make_reverse_iterator(outer); at != running_.rend(); ++at) {
    if (at->thread != self) continue;
    at->since = now;
    at->is_inner = true;
    break;
  }
}

std::vector<Watchdog::Slow> Watchdog::take_slow() {
  const std::lock_guard lock(mutex_);
  return std::exchange(slow_, {});
}

std::string Watchdog::Running::words(Clock::time_point now) const {
  std::string text = call.who->name() + "." + call.method;
  if (call.sequence != 0) text += ", sequence " + std::to_string(call.sequence);
  return text + ": has run for " + brief(seconds(now));
}

void Watchdog::run() {
  const double first = std::min(limits_.slow_s, limits_.limit_s) / kLooksPerLimit;
  const std::chrono::duration<double> pause(std::clamp(first, kLeastPause_s, kLongestPause_s));
  for (std::unique_lock lock(mutex_);;) {
    if (wake_.wait_for(lock, pause, [this] { return is_ending_; })) return;
    const std::vector<Word> words = look();
    lock.unlock();
    for (const Word& word : words) word.to(word.line);
    lock.lock();
  }
}

std::vector<Watchdog::Word> Watchdog::look() {
  std::vector<Word> words;
  for (Running& at : running_)
    if (at.is_inner && at.call.who) look(at, words);
  return words;
}

void Watchdog::look(Running& at, std::vector<Word>& words) {
  const auto now = Clock::now();
  const double seconds = at.seconds(now);
  if (seconds >= limits_.slow_s && !std::exchange(at.is_told_slow, true) && warn_ &&
      warned_.insert(at.call.who->name()).second)
    words.push_back({warn_, at.words(now)});
  if (seconds >= limits_.limit_s && stuck_ && !std::exchange(at.is_told_stuck, true))
    words.push_back({stuck_, at.words(now) + ", it may take " + brief(limits_.limit_s) +
                                 " (engine.plugin_limit_s)"});
}

}  // namespace redline::engine
