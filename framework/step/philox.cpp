// SPDX-License-Identifier: Apache-2.0
// The 128-bit counter of a key, low word first; no two keys share one:
//   word 0  position (32 bits)
//   word 1  step (32)
//   word 2  node (16) | draw (12) | stream (3)
//   word 3  lane (19): two tokens of a vocabulary below 2^20 share a block of 128 bits
// Seed and request, 128 bits, are mixed into the 64-bit Philox key by a Philox block of their own.
#include <algorithm>
#include <cmath>
#include <limits>

#include "step/draws.hpp"

namespace redline::step {
namespace {

constexpr Token kChunk = 4096;  // even: two tokens share a block

using Block = PhiloxBlock;

std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
std::uint64_t join(std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; }

class Source {  // the noise of one key
 public:
  explicit Source(const Key& key)
      : counter_{static_cast<std::uint32_t>(key.position), key.step,
                 static_cast<std::uint32_t>(key.node) << 15 |
                     static_cast<std::uint32_t>(key.draw) << 3 |
                     static_cast<std::uint32_t>(key.stream),
                 0} {
    const Block mixed =
        philox4x32({low(key.seed), high(key.seed), low(key.request), high(key.request)}, 0);
    key_ = join(mixed[1], mixed[0]);
  }
  Block block(std::uint32_t lane) const {
    return philox4x32({counter_[0], counter_[1], counter_[2], lane}, key_);
  }
  double uniform() const {  // [0, 1), 53 bits
    const Block b = block(0);
    return static_cast<double>(join(b[0], b[1]) >> 11) * 0x1p-53;
  }

 private:
  Block counter_;
  std::uint64_t key_;
};

double open_uniform(std::uint64_t bits) {  // (0, 1): the middles of 2^52 cells
  return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
}

// argmax of log p + Gumbel noise is argmin of -log(u) / p: a race of exponential clocks. A token
// can only win with -log(u) < p * least, so its logarithm is taken only where 1 - u < p * least,
// which -log(u) >= 1 - u makes necessary.
class Race {
 public:
  void enter(Token token, double p, double u) {
    if (1 - u >= p * least_) return;
    const double time = -std::log(u) / p;
    if (time < least_) least_ = time, winner_ = token;
  }
  Token winner() const { return winner_; }

 private:
  Token winner_ = kNone;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

PhiloxBlock philox4x32(PhiloxBlock c, std::uint64_t key) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9U, k1 += 0xBB67AE85U) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * c[0],
                        b = std::uint64_t{0xCD9E8D57U} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
  }
  return c;
}

bool Philox::flip(const Key& key, double prob) { return Source(key).uniform() < prob; }
Token Philox::pick(const Key& key, const Row& row) { return row.pick(Source(key).uniform()); }

Token Philox::race(const Key& key, const Row& row) {
  if (row.is_point()) return row.argmax();
  const Source noise(key);
  Race race;
  List<double> p(kChunk);
  for (Token first = 0; first < row.vocab(); first += kChunk) {
    p.resize(static_cast<std::size_t>(std::min(kChunk, row.vocab() - first)));
    row.read(first, p);
    for (std::size_t k = 0; k < p.size(); k += 2) {
      const double next = k + 1 < p.size() ? p[k + 1] : 0;
      if (p[k] <= 0 && next <= 0) continue;
      const Token token = first + static_cast<Token>(k);
      const Block b = noise.block(static_cast<std::uint32_t>(token / 2));
      if (p[k] > 0) race.enter(token, p[k], open_uniform(join(b[0], b[1])));
      if (next > 0) race.enter(token + 1, next, open_uniform(join(b[2], b[3])));
    }
  }
  return race.winner();
}

}  // namespace redline::step
