// SPDX-License-Identifier: Apache-2.0
// What the parts of one forward share, and the products that run as one list of tasks.
#pragma once
#include <algorithm>
#include <span>

#include "device/device.hpp"
#include "model/activations.hpp"
#include "model/row_plan.hpp"
#include "model/weights.hpp"
#include "parallel/communicator.hpp"

namespace redline::model {

struct Pass {
  device::Device& device;
  parallel::Communicator& ranks;
  const Architecture& whole;         // the model
  const Architecture& architecture;  // as this rank computes it
  const Buffers& buffers;
  const RowPlan& plan;
  std::int64_t scratch_bytes;  // of a worker

  const kernels::Ops& ops() const { return device.ops(); }
  std::int64_t rows() const { return plan.rows(); }
};

// Cuts [0, rows) so that a task has some work; few rows of little width are one task, which needs
// no other thread. f(Range, worker)
template <class F>
void for_rows(device::Device& device, std::int64_t rows, std::int64_t cols, F&& f) {
  constexpr std::int64_t kTaskFloats = 16384;  // some microseconds
  const std::int64_t step = std::max<std::int64_t>(1, kTaskFloats / cols);
  device.pool().run((rows + step - 1) / step, [&](std::int64_t task, int worker) {
    f(kernels::Range{task * step, std::min((task + 1) * step, rows)}, worker);
  });
}

// Some parts a thread of `count` pieces, which evens out threads that are not equally fast.
inline std::int64_t part_of_work(std::int64_t count, int threads) {
  constexpr std::int64_t kPartsPerThread = 24;
  return std::max<std::int64_t>(1, count / (threads * kPartsPerThread));
}
template <class F>  // f(Range, worker)
void for_parts(device::Device& device, std::int64_t count, F&& f) {
  const std::int64_t step = part_of_work(count, device.pool().threads());
  device.pool().run((count + step - 1) / step, [&](std::int64_t task, int worker) {
    f(kernels::Range{task * step, std::min((task + 1) * step, count)}, worker);
  });
}

struct Product {  // out[t, n] = w x[t] + bias
  const kernels::PackedMatrix& w;
  const float* bias;  // may be null
  float* out;         // [rows, stride]
  std::int64_t stride;
};
// x [rows, K] as the weight types of the products want it: nothing where they are floats.
void quantize(device::Device& device, std::span<const Product> products, const float* x,
              std::int64_t rows, std::byte* quantized);
// All of the same rows. The tiles of all matrices are one list of tasks.
void multiply_quantized(device::Device& device, std::span<const Product> products,
                        const kernels::Activations& x, std::int64_t rows);
void multiply(device::Device& device, std::span<const Product> products, const float* x,
              std::int64_t rows, std::byte* quantized);  // both

// x += delta of the block before (null: none), then normed.
void norm(const Pass& pass, const float* delta, const std::vector<float>& weight);

// Logits of normed rows [rows, D], rows <= W, made whole on rank 0: out [rows, outputs] there.
void logits(const Pass& pass, const Head& head, const float* normed, std::int64_t rows, float* out);

// Each leaves in buffers.delta what is to be added to the residual stream.
void attention_block(const Pass& pass, const LayerWeights& layer, const float* delta);
void feed_forward_block(const Pass& pass, const LayerWeights& layer);
// What a worker keeps to itself in it: F columns, T rows.
std::int64_t feed_forward_scratch_bytes(std::int64_t columns, std::int64_t rows, int threads);

}  // namespace redline::model
