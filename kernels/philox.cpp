// SPDX-License-Identifier: Apache-2.0
#include "philox.hpp"

#include "redline/kernels/philox.hpp"

namespace redline::kernels {

PhiloxBlock philox4x32(PhiloxBlock c, std::uint64_t key) {
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t a = std::uint64_t{kPhiloxFactors[0]} * c[0],
                        b = std::uint64_t{kPhiloxFactors[1]} * c[2];
    c = {static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += kPhiloxSteps[0], k1 += kPhiloxSteps[1];
  }
  return c;
}

}  // namespace redline::kernels
