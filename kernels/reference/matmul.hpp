// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "redline/kernels/ops.hpp"

namespace redline::kernels {

void reference_matmul(const PackedMatrix& w, const Activations& x, std::int64_t rows,
                      const float* bias, float* out, std::int64_t out_stride, Range tiles);

}  // namespace redline::kernels
