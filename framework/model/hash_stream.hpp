// SPDX-License-Identifier: Apache-2.0
// An endless row of 64-bit numbers from a seed and a name, the same on every machine (SplitMix64).
#pragma once
#include <cstdint>
#include <string_view>

namespace redline::model {

class HashStream {
 public:
  HashStream(std::uint64_t seed, std::string_view name) : state_(mix(seed)) {
    for (const unsigned char c : name) state_ = mix(state_ ^ c);
  }
  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15u); }
  std::uint64_t below(std::uint64_t limit) { return (next() >> 32) * limit >> 32; }  // limit < 2^32
  double unit() { return static_cast<double>(next() >> 40) * 0x1p-24; }              // [0, 1)

 private:
  static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

}  // namespace redline::model
