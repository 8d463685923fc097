// SPDX-License-Identifier: Apache-2.0
// What a Philox 4x32 block is made with. File local, see layout.hpp.
#pragma once
#include <cstdint>

namespace redline::kernels {
namespace {

constexpr int kPhiloxRounds = 10;
constexpr std::uint32_t kPhiloxFactors[] = {0xD2511F53U, 0xCD9E8D57U};  // of words 0 and 2
constexpr std::uint32_t kPhiloxSteps[] = {0x9E3779B9U, 0xBB67AE85U};    // of the key's words

}  // namespace
}  // namespace redline::kernels
