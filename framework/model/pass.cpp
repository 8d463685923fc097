// SPDX-License-Identifier: Apache-2.0
#include "model/pass.hpp"

namespace redline::model {
namespace {

bool takes(const kernels::PackedMatrix& w, kernels::Grain grain) {
  return !is_float(w.type) && grain_of(w) == grain;
}

// Tiles [begin, end) of the list of all products' tiles.
void multiply_tiles(const kernels::Ops& ops, std::span<const Product> products,
                    const kernels::Activations& x, std::int64_t rows, std::int64_t begin,
                    std::int64_t end) {
  std::int64_t first = 0;  // tile of the list where the product starts
  for (const Product& product : products) {
    const kernels::Range tiles{std::max(begin, first) - first,
                               std::min(end, first + product.w.tiles()) - first};
    first += product.w.tiles();
    if (tiles.begin < tiles.end)
      ops.matmul(product.w, x, rows, product.bias, product.out, product.stride, tiles);
  }
}

}  // namespace

void quantize(device::Device& device, std::span<const Product> products, const float* x,
              std::int64_t rows, std::byte* quantized) {
  const std::int64_t cols = products.front().w.cols;
  for (const kernels::Grain grain : kernels::kGrains)
    if (std::ranges::any_of(products, [&](const Product& p) { return takes(p.w, grain); }))
      device.pool().run(kernels::row_passes(rows), [&](std::int64_t pass, int) {
        device.ops().quantize(x, cols, rows, cols, grain, quantized, {pass, pass + 1}, {0, cols});
      });
}

void multiply_quantized(device::Device& device, std::span<const Product> products,
                        const kernels::Activations& x, std::int64_t rows) {
  std::int64_t tiles = 0;
  for (const Product& product : products) tiles += product.w.tiles();
  for_parts(device, tiles, [&](kernels::Range part, int) {
    multiply_tiles(device.ops(), products, x, rows, part.begin, part.end);
  });
}

void multiply(device::Device& device, std::span<const Product> products, const float* x,
              std::int64_t rows, std::byte* quantized) {
  quantize(device, products, x, rows, quantized);
  multiply_quantized(device, products, {x, quantized}, rows);
}

void norm(const Pass& pass, const float* delta, const std::vector<float>& weight) {
  const Buffers& b = pass.buffers;
  const auto cols = static_cast<std::int64_t>(weight.size());
  for_rows(pass.device, pass.rows(), cols, [&](kernels::Range range, int) {
    pass.ops().add_rms_norm(b.x, delta, weight.data(), pass.architecture.epsilon, cols, b.normed,
                            range);
  });
}

}  // namespace redline::model
