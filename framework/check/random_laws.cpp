// SPDX-License-Identifier: Apache-2.0
#include "check/random_laws.hpp"

#include <cmath>

#include "step/draws.hpp"

namespace redline::check {
namespace {

constexpr std::uint32_t kOneInLarger = 4;  // that many contexts hold one of four tokens
constexpr double kLeastSum = 1e-3;         // below it all were zero, or as good as

class Dice {
 public:
  explicit Dice(std::uint32_t number) : number_(number) {}
  std::vector<float> law(Token vocab) {
    std::vector<float> v(static_cast<std::size_t>(vocab));
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
  const Token vocab = number % kOneInLarger == kOneInLarger - 1 ? 4 : 3;
  Dice dice(number);
  Pair out;
  for (Table* t : {&out.p, &out.q}) {
    (*t)[{}] = dice.law(vocab);
    for (Token a = 0; a < vocab; ++a) {
      (*t)[{a}] = dice.law(vocab);
      for (Token b = 0; b < vocab; ++b) {
        (*t)[{a, b}] = dice.law(vocab);
        for (Token c = 0; c < vocab; ++c) (*t)[{a, b, c}] = dice.law(vocab);
      }
    }
  }
  return out;
}

}  // namespace redline::check
