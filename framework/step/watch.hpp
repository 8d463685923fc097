// SPDX-License-Identifier: Apache-2.0
// Told which call of a plugin is running, so that one that takes too long can be named.
#pragma once
#include <cstdint>

#include "redline/types.hpp"

namespace redline::step {

struct PluginCall {
  const Plugin* who;           // null: the engine's own work, asked for within a call
  const char* method;          // a literal
  std::uint64_t sequence = 0;  // one of those it is about; 0: the caller does not know
};

class Watch {
 public:
  virtual ~Watch() = default;
  // Calls nest: the time of an inner one is not the outer one's.
  virtual void enter(const PluginCall& call) = 0;
  virtual void leave() = 0;
};

// A call from its making to its end.
class Watched {
 public:
  Watched(Watch* watch, const PluginCall& call) : watch_(watch) {
    if (watch_) watch_->enter(call);
  }
  ~Watched() {
    if (watch_) watch_->leave();
  }
  Watched(const Watched&) = delete;  // it would end twice

 private:
  Watch* watch_;
};

}  // namespace redline::step
