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

}  // namespace

const Ops& ops(Isa isa) {
  const std::vector<Isa> have = supported();
  if (std::find(have.begin(), have.end(), isa) == have.end())
    throw std::invalid_argument("this machine has no " + std::string(name(isa)));
  static const Ops portable = portable_ops();
  return portable;
}

}  // namespace redline::kernels
