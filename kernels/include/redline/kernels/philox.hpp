// SPDX-License-Identifier: Apache-2.0
// Philox 4x32-10 (Salmon et al., SC 2011): four words of noise as a function of a counter and a
// key.
#pragma once
#include <array>
#include <cstdint>

namespace redline::kernels {

using PhiloxBlock = std::array<std::uint32_t, 4>;  // low word first
PhiloxBlock philox4x32(PhiloxBlock counter, std::uint64_t key);

}  // namespace redline::kernels
