// SPDX-License-Identifier: Apache-2.0
#include "cpu/lanes_avx512.hpp"
//
#include "cpu/vocabulary.hpp"
#include "families.hpp"

namespace redline::kernels {

void install_avx512_vocabulary(Ops& ops) {
  ops.argmax = argmax;
  ops.softmax = softmax;
  ops.spread = spread;
  ops.block_maxima = block_maxima;
}

}  // namespace redline::kernels
