// SPDX-License-Identifier: Apache-2.0
#include "cpu/lanes_avx2.hpp"
//
#include "cpu/vocabulary.hpp"
#include "families.hpp"

namespace redline::kernels {

void install_avx2_vocabulary(Ops& ops) {
  ops.argmax = argmax;
  ops.log_sum_exp = log_sum_exp;
  ops.softmax = softmax;
}

}  // namespace redline::kernels
