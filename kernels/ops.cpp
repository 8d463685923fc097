// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/ops.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cpu_features.hpp"
#include "families.hpp"

namespace redline::kernels {
namespace {

Ops portable_ops() {
  Ops table{};
  table.isa = Isa::PORTABLE;
  install_reference_matmul(table);
  install_reference_rows(table);
  install_reference_attention(table);
  install_reference_vocabulary(table);
  return table;
}

Ops avx2_ops() {
  Ops table = portable_ops();
  table.isa = Isa::AVX2;
  install_avx2_quantize(table);
  install_avx2_matmul(table);
  install_avx2_rows(table);
  install_avx2_attention(table);
  install_avx2_vocabulary(table);
  return table;
}

Ops avx_vnni_ops() {
  Ops table = avx2_ops();
  table.isa = Isa::AVX_VNNI;
  if (has_avx_vnni())
    install_avx_vnni_matmul(table);
  else
    install_avx_vnni_matmul_of_avx512(table);
  return table;
}

Ops avx512_ops() {
  Ops table = avx2_ops();
  table.isa = Isa::AVX512_VNNI;
  install_avx512_matmul(table);
  install_avx512_attention(table);
  install_avx512_vocabulary(table);
  return table;
}

}  // namespace

const Ops& ops(Isa isa) {
  const std::vector<Isa> have = supported();
  if (std::find(have.begin(), have.end(), isa) == have.end())
    throw std::invalid_argument("this machine has no " + std::string(name(isa)));
  static const Ops tables[] = {portable_ops(), avx2_ops(), avx_vnni_ops(), avx512_ops()};
  return tables[static_cast<int>(isa)];
}

}  // namespace redline::kernels
