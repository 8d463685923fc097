// SPDX-License-Identifier: Apache-2.0
// Which sequences a faulty plugin goes wrong on, and when.
#pragma once
#include <chrono>
#include <string>
#include <thread>

#include "redline/plugin.hpp"

namespace faulty {

inline constexpr redline::Token kMark = 77;              // a marked prompt's first token
inline constexpr std::uint64_t kMarkedKeys = 1'000'000;  // and its request's key is not below
inline constexpr std::size_t kGoodTokens = 3;            // of output, before the fault
inline constexpr std::chrono::milliseconds kNap{20};

inline bool is_marked(const redline::Sequence& s) { return s.tokens.front() == kMark; }
inline bool is_due(const redline::Sequence& s) {
  return is_marked(s) && s.output().size() >= kGoodTokens;
}

[[noreturn]] inline void fail(const std::string& how) {
  if (how.ends_with("int")) throw 7;
  throw redline::Error("on purpose");
}

}  // namespace faulty
