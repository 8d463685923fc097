// SPDX-License-Identifier: Apache-2.0
// Knows which calls of plugins are running since when, on which thread: counts those that take
// long, and names one that does not end while it runs, from a thread of its own.
#pragma once
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "step/watch.hpp"

namespace redline::engine {

class Watchdog final : public step::Watch {
 public:
  using Say = std::function<void(const std::string& line)>;
  struct Limits {
    double slow_s = 1, limit_s = 60;  // of one call
  };
  struct Slow {
    std::uint64_t sequence;
    double seconds;
  };

  // warn: once a plugin, when a call of it has become slow. [the watchdog's thread]
  Watchdog(const Limits& limits, Say warn);
  ~Watchdog() override;

  // stuck: told of a call that has reached the limit, once. [the watchdog's thread]
  void on_stuck(Say stuck);
  void enter(const step::PluginCall& call) override;
  void leave() override;
  std::vector<Slow> take_slow();  // calls that ended since it was asked last

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    std::thread::id thread;
    step::PluginCall call;
    Clock::time_point since;      // it runs without an inner call
    Clock::duration before = {};  // that, and all its time until then
    bool is_inner = true;         // no call within it runs
    bool is_told_slow = false, is_told_stuck = false;
    double seconds(Clock::time_point now) const {
      return std::chrono::duration<double>(before + (now - since)).count();
    }
    std::string words(Clock::time_point now) const;
  };
  struct Word {  // to be said without the lock
    Say to;
    std::string line;
  };

  void run();
  std::vector<Running>::iterator innermost();  // of this thread, or the end
  void look(Running& at, std::vector<Word>& words);
  std::vector<Word> look();

  Limits limits_;
  Say warn_, stuck_;
  std::mutex mutex_;  // guards all below
  std::condition_variable wake_;
  bool is_ending_ = false;
  std::vector<Running> running_;  // of each thread the innermost last
  std::vector<Slow> slow_;
  std::set<std::string> warned_;  // names
  std::thread thread_;
};

}  // namespace redline::engine
