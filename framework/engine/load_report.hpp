// SPDX-License-Identifier: Apache-2.0
// Says how far the load of a model is, at each tenth of it: the first one packs its weights, which
// takes its time.
#pragma once
#include <functional>
#include <string>
#include <utility>

namespace redline::engine {

inline std::function<void(double done, const std::string& what)> load_report(
    std::function<void(const std::string&)> say, std::string who) {
  return [say = std::move(say), who = std::move(who), said = -1](double done,
                                                                 const std::string& what) mutable {
    const int tenths = static_cast<int>(done * 10);
    if (tenths == std::exchange(said, tenths)) return;
    say(who + ": " + what + ", " + std::to_string(10 * tenths) + " %");
  };
}

}  // namespace redline::engine
