// SPDX-License-Identifier: Apache-2.0
#include "redline/kernels/ops.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

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
  static const Ops portable = portable_ops(), avx2 = avx2_ops(), avx512 = avx512_ops();
  return isa == Isa::AVX512_VNNI ? avx512 : isa == Isa::AVX2 ? avx2 : portable;
}

}  // namespace redline::kernels
