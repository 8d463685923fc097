// SPDX-License-Identifier: Apache-2.0
// What one thread can do at best, as loops to be timed: what a roofline divides by. They compute
// nothing anybody reads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "redline/kernels/isa.hpp"

namespace redline::kernels {

struct PeakLoops {  // each returns how many it did
  // Integer multiply-adds of int8 activations with 4-bit weights, which it unpacks; no scales. All
  // operands stay in the first cache level.
  std::int64_t (*multiply_adds)(std::int64_t rounds);
  std::int64_t (*fmas)(std::int64_t rounds);  // of floats, in registers
};
const PeakLoops& peak_loops(Isa isa);  // throws std::invalid_argument when this machine lacks it

// Ways to read memory once and in order: which one is fastest differs between machines.
enum class ReadAhead : std::uint8_t { HARDWARE, PREFETCH };
inline constexpr ReadAhead kReadAheads[] = {ReadAhead::HARDWARE, ReadAhead::PREFETCH};
void read_once(std::span<const std::byte> memory, ReadAhead ahead);

}  // namespace redline::kernels
