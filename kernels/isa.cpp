// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/isa.hpp"

namespace redline::kernels {

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::AVX2:
      return "avx2";
    case Isa::AVX512_VNNI:
      return "avx512_vnni";
    default:
      return "portable";
  }
}

std::optional<Isa> isa_from(std::string_view text) {
  for (Isa isa : {Isa::PORTABLE, Isa::AVX2, Isa::AVX512_VNNI})
    if (name(isa) == text) return isa;
  return std::nullopt;
}

std::vector<Isa> supported() {
  std::vector<Isa> found{Isa::PORTABLE};
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  if (avx2) found.push_back(Isa::AVX2);
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vnni"))
    found.push_back(Isa::AVX512_VNNI);
  return found;
}

}  // namespace redline::kernels
