// SPDX-License-Identifier: Apache-2.0
#include "cpu/lanes_avx2.hpp"
//
#include "cpu/attention.hpp"
#include "families.hpp"

namespace redline::kernels {

void install_avx2_attention(Ops& ops) {
  ops.attention = attention;
  ops.attention_scratch_bytes = scratch_bytes;
}

}  // namespace redline::kernels
