// SPDX-License-Identifier: Apache-2.0
// Says how far the load of a model is, at each tenth of it, once it has taken a second: the first
// load of a model packs its weights, later ones are over before.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <utility>

namespace redline::engine {

inline std::function<void(double done, const std::string& what)> load_report(
    std::function<void(const std::string&)> say, std::string who) {
  using Clock = std::chrono::steady_clock;
  return [say = std::move(say), who = std::move(who), begin = Clock::now(), said = -1](
             double done, const std::string& what) mutable {
    const int tenths = static_cast<int>(done * 10);
    if (Clock::now() - begin < std::chrono::seconds(1)) return;
    if (tenths == std::exchange(said, tenths)) return;
    say(who + ": " + what + ", " + std::to_string(10 * tenths) + " %");
  };
}

}  // namespace redline::engine
