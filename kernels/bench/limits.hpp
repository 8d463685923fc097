// SPDX-License-Identifier: Apache-2.0
// What benchmarks divide by: rates of one thread of this process.
#pragma once
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

#include "redline/kernels/peak.hpp"

namespace redline::kernels {

double seconds_of(auto&& f) {  // the best of a few
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    f();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  return best;
}

inline double read_peak() {  // bytes a second, from memory
  static const double rate = [] {
    const std::vector<std::byte> memory(std::size_t{256} << 20, std::byte{1});
    double best = 0;
    for (const ReadAhead ahead : kReadAheads)
      best = std::max(
          best, static_cast<double>(memory.size()) / seconds_of([&] { read_once(memory, ahead); }));
    return best;
  }();
  return rate;
}

// Seconds to copy so many bytes between places that lie where a loop over them left them.
inline double copy_seconds(std::size_t read_bytes, std::size_t written_bytes) {
  constexpr int kRounds = 100;
  const std::size_t each = std::max(read_bytes, written_bytes);
  std::vector<std::byte> from(each, std::byte{1}), to(each);
  return seconds_of([&] {
           for (int i = 0; i < kRounds; ++i) {
             std::memcpy(to.data(), from.data(), written_bytes);
             benchmark::DoNotOptimize(to.data());
             if (read_bytes > written_bytes)
               read_once({from.data() + written_bytes, read_bytes - written_bytes},
                         ReadAhead::HARDWARE);
           }
         }) /
         kRounds;
}

// Of a quantity an iteration: how much a second. Of the seconds it takes at best: the share.
inline benchmark::Counter rate(double of) {
  return {of, benchmark::Counter::kIsIterationInvariantRate};
}

}  // namespace redline::kernels
