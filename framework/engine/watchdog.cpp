// SPDX-License-Identifier: Apache-2.0
#include "engine/watchdog.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace redline::engine {
namespace {

constexpr int kLooksPerLimit = 4;  // a call is named at most a quarter late
constexpr double kLeastPause_s = 1e-3, kLongestPause_s = 0.25;

std::string brief(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds);
  return text;
}

}  // namespace

Watchdog::Watchdog(const Limits& limits, Say warn)
    : limits_(limits), warn_(std::move(warn)), thread_([this] { run(); }) {}

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

void Watchdog::enter(const step::PluginCall& call) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (!running_.empty()) running_.back().before += now - running_.back().since;
  running_.push_back({.call = call, .since = now});
}

void Watchdog::leave() {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  const Running& ended = running_.back();
  if (const double seconds = ended.seconds(now); ended.call.who && seconds >= limits_.slow_s)
    slow_.push_back({ended.call.sequence, seconds});
  running_.pop_back();
  if (!running_.empty()) running_.back().since = now;
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
  if (running_.empty() || !running_.back().call.who) return words;
  Running& at = running_.back();
  const auto now = Clock::now();
  const double seconds = at.seconds(now);
  if (seconds >= limits_.slow_s && !std::exchange(at.is_told_slow, true) && warn_ &&
      warned_.insert(at.call.who->name()).second)
    words.push_back({warn_, at.words(now)});
  if (seconds >= limits_.limit_s && stuck_ && !std::exchange(at.is_told_stuck, true))
    words.push_back({stuck_, at.words(now) + ", it may take " + brief(limits_.limit_s) +
                                 " (engine.plugin_limit_s)"});
  return words;
}

}  // namespace redline::engine
