// SPDX-License-Identifier: Apache-2.0
// Instruction sets the kernels are built for; all of them give the same bits.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace redline::kernels {

enum class Isa { PORTABLE, AVX2, AVX_VNNI, AVX512_VNNI };
inline constexpr Isa kIsas[] = {Isa::PORTABLE, Isa::AVX2, Isa::AVX_VNNI, Isa::AVX512_VNNI};

std::string_view name(Isa isa);  // "portable", "avx2", "avx_vnni", "avx512_vnni"
std::optional<Isa> isa_from(std::string_view name);
std::vector<Isa> supported();  // on this machine, slowest first
inline Isa best() { return supported().back(); }

}  // namespace redline::kernels
