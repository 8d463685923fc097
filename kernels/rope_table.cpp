// SPDX-License-Identifier: Apache-2.0
#include "math64.hpp"
#include "redline/kernels/ops.hpp"

namespace redline::kernels {

void fill_rope_table(double base, const float* divisors, double scale, std::int64_t head_size,
                     std::int64_t positions, float* cosine, float* sine) {
  const std::int64_t half = head_size / 2;
  const double log_base = log64(base);
  for (std::int64_t i = 0; i < half; ++i) {
    double frequency =
        exp64(-2.0 * static_cast<double>(i) / static_cast<double>(head_size) * log_base);
    if (divisors) frequency /= static_cast<double>(divisors[i]);
    for (std::int64_t position = 0; position < positions; ++position) {
      const SinCos at = sincos64(static_cast<double>(position) * frequency);
      cosine[position * half + i] = static_cast<float>(at.cos * scale);
      sine[position * half + i] = static_cast<float>(at.sin * scale);
    }
  }
}

}  // namespace redline::kernels
