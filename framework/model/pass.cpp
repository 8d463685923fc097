// SPDX-License-Identifier: Apache-2.0
#include "model/pass.hpp"

namespace redline::model {
namespace {

// Activations that a tile meets at once: they stay in the second-level cache for all tiles of a
// task.
constexpr std::int64_t kBlockRows = 32;
constexpr std::int64_t kTasksPerThread = 8;  // evens out threads that are not equally fast

// Tiles [begin, end) of the list of all products' tiles.
void multiply_tiles(const kernels::Ops& ops, std::span<const Product> products, const std::byte* x,
                    std::int64_t rows, std::int64_t begin, std::int64_t end) {
  std::int64_t first = 0;  // tile of the list where the product starts
  for (const Product& product : products) {
    const kernels::Range tiles{std::max(begin, first) - first,
                               std::min(end, first + product.w.tiles()) - first};
    first += product.w.tiles();
    if (tiles.begin >= tiles.end) continue;
    for (std::int64_t row = 0; row < rows; row += kBlockRows)
      ops.matmul(product.w, x + kernels::activation_bytes(row, product.w.cols),
                 std::min(kBlockRows, rows - row), product.bias, product.out + row * product.stride,
                 product.stride, tiles);
  }
}

}  // namespace

void multiply(device::Device& device, std::span<const Product> products, const std::byte* x,
              std::int64_t rows) {
  std::int64_t tiles = 0;
  for (const Product& product : products) tiles += product.w.tiles();
  const std::int64_t tasks_wanted = device.pool().threads() * kTasksPerThread;
  const std::int64_t step = std::max<std::int64_t>(1, tiles / tasks_wanted);
  device.pool().run((tiles + step - 1) / step, [&](std::int64_t task, int) {
    multiply_tiles(device.ops(), products, x, rows, task * step,
                   std::min((task + 1) * step, tiles));
  });
}

void norm_and_quantize(const Pass& pass, const float* delta, const std::vector<float>& weight) {
  const Buffers& b = pass.buffers;
  const auto cols = static_cast<std::int64_t>(weight.size());
  for_rows(pass.device, pass.rows(), cols, [&](kernels::Range range, int) {
    pass.ops().add_rms_norm(b.x, delta, weight.data(), pass.architecture.epsilon, cols, b.normed,
                            range);
    pass.ops().quantize(b.normed, pass.rows(), cols, b.quantized, range);
  });
}

}  // namespace redline::model
