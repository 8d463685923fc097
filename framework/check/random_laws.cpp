// SPDX-License-Identifier: Apache-2.0
#include "check/random_laws.hpp"

#include <cmath>

#include "step/draws.hpp"

namespace redline::check {
namespace {

constexpr int kVocab = 3;
constexpr double kLeastSum = 1e-3;  // below it all were zero, or as good as

class Dice {
 public:
  explicit Dice(std::uint32_t number) : number_(number) {}
  std::vector<float> law() {
    std::vector<float> v(kVocab);
    double sum = 0;
    while (sum < kLeastSum) {
      sum = 0;
      for (float& x : v) sum += x = weight();
    }
    for (float& x : v) x = static_cast<float>(x / sum);
    return v;
  }

 private:
  // A gamma variable of shape 1/2 is half the square of a normal one (Box-Muller).
  float weight() {
    const step::PhiloxBlock block = step::philox4x32({number_, next_++, 0, 0}, 0);
    if (block[0] % 5 == 0) return 0;
    const double radius = -2 * std::log((block[1] + .5) * 0x1p-32);
    const double x = std::cos((block[2] + .5) * 0x1p-31 * std::acos(-1.0));
    return static_cast<float>(radius * x * x / 2);
  }
  std::uint32_t number_, next_ = 0;
};

}  // namespace

Pair random_pair(std::uint32_t number) {
  Dice dice(number);
  Pair out;
  for (Table* t : {&out.p, &out.q}) {
    (*t)[{}] = dice.law();
    for (Token a = 0; a < kVocab; ++a) {
      (*t)[{a}] = dice.law();
      for (Token b = 0; b < kVocab; ++b) {
        (*t)[{a, b}] = dice.law();
        for (Token c = 0; c < kVocab; ++c) (*t)[{a, b, c}] = dice.law();
      }
    }
  }
  return out;
}

}  // namespace redline::check
