// SPDX-License-Identifier: Apache-2.0
// The 128-bit counter of a key, low word first; no two keys share one:
//   word 0  position (32 bits)
//   word 1  step (32)
//   word 2  node (16) | draw (12) | stream (3)
//   word 3  lane (19): two tokens of a vocabulary below 2^20 share a block of 128 bits
// Seed and request, 128 bits, are mixed into the 64-bit Philox key by a Philox block of their own.
#include <algorithm>

#include "redline/kernels/probabilities.hpp"
#include "step/draws.hpp"

namespace redline::step {
namespace {

constexpr Token kChunk = 4096;  // even: two tokens share a block

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
std::uint64_t join(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

class Source {  // the noise of one key
 public:
  explicit Source(const Key& key)
      : noise_{{static_cast<std::uint32_t>(key.position), key.step,
                static_cast<std::uint32_t>(key.node) << 15 |
                    static_cast<std::uint32_t>(key.draw) << 3 |
                    static_cast<std::uint32_t>(key.stream)},
               0} {
    const PhiloxBlock mixed =
        philox4x32({low(key.seed), high(key.seed), low(key.request), high(key.request)}, 0);
    noise_.key = join(mixed[1], mixed[0]);
  }
  const kernels::Noise& noise() const { return noise_; }
  double uniform() const {  // [0, 1), 53 bits
    const auto& [position, step, which] = noise_.counter;
    const PhiloxBlock b = philox4x32({position, step, which, 0}, noise_.key);
    return static_cast<double>(join(b[0], b[1]) >> 11) * 0x1p-53;
  }

 private:
  kernels::Noise noise_;
};

}  // namespace

bool Philox::flip(const Key& key, double prob) { return Source(key).uniform() < prob; }
Token Philox::pick(const Key& key, const Row& row) { return row.pick(Source(key).uniform()); }

// argmax of log p + Gumbel noise: a race of exponential clocks.
Token Philox::race(const Key& key, const Row& row) {
  if (row.is_point()) return row.argmax();
  static const kernels::ProbabilityOps& ops = kernels::probability_ops(kernels::best());
  const kernels::Noise noise = Source(key).noise();
  kernels::Arrival first;
  List<double> p(kChunk);
  for (Token begin = 0; begin < row.vocab(); begin += kChunk) {
    p.resize(static_cast<std::size_t>(std::min(kChunk, row.vocab() - begin)));
    row.read(begin, p);
    first = ops.race(noise, p.data(), begin, std::ssize(p), first);
  }
  return static_cast<Token>(first.token);
}

}  // namespace redline::step
