// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/isa.hpp"

#include "cpu_features.hpp"

namespace redline::kernels {

std::string_view name(Isa isa) {
  switch (isa) {
    case Isa::AVX2:
      return "avx2";
    case Isa::AVX_VNNI:
      return "avx_vnni";
    case Isa::AVX512_VNNI:
      return "avx512_vnni";
    default:
      return "portable";
  }
}

std::optional<Isa> isa_from(std::string_view text) {
  for (Isa isa : kIsas)
    if (name(isa) == text) return isa;
  return std::nullopt;
}

std::vector<Isa> supported() {
  std::vector<Isa> found{Isa::PORTABLE};
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c");
  if (avx2) found.push_back(Isa::AVX2);
  if (avx2 && (has_avx_vnni() || has_avx512_vnni())) found.push_back(Isa::AVX_VNNI);
  if (avx2 && has_avx512_vnni()) found.push_back(Isa::AVX512_VNNI);
  return found;
}

}  // namespace redline::kernels
