// SPDX-License-Identifier: Apache-2.0
#include "model/activations.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string>

#include "redline/error.hpp"

namespace redline::model {
namespace {

// Hands out pieces of one block; from a null block it only counts.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}
  std::byte* bytes(std::int64_t count) {
    std::byte* const piece = base_ ? base_ + used_ : nullptr;
    used_ += (count + 63) / 64 * 64;
    return piece;
  }
  float* floats(std::int64_t count) { return reinterpret_cast<float*>(bytes(count * 4)); }
  std::int64_t used() const { return used_; }

 private:
  std::byte* base_;
  std::int64_t used_ = 0;
};

Buffers carve(Carver& carver, const Architecture& of, const Extent& extent) {
  const Shape& shape = of.shape;
  const std::int64_t rows = extent.rows, hidden = shape.hidden, width = shape.feed_forward;
  const std::int64_t quantized = std::max(kernels::activation_bytes(rows, hidden),
                                          kernels::activation_bytes(rows, of.q_width()));
  return {.x = carver.floats(rows * hidden),
          .delta = carver.floats(rows * hidden),
          .normed = carver.floats(rows * hidden),
          .quantized = carver.bytes(quantized),
          .qkv = carver.floats(rows * (of.q_width() + 2 * of.kv_width())),
          .mixed = carver.floats(rows * of.q_width()),
          .activated = carver.floats(rows * width),
          .activated_quantized = carver.bytes(kernels::activation_bytes(rows, width)),
          .wanted = carver.floats(extent.wanted * hidden),
          .part = carver.floats(extent.is_shard ? extent.wanted * extent.outputs : 0),
          .parts = carver.floats(extent.is_shard ? extent.wanted * extent.logits : 0),
          .logits = carver.floats(extent.wanted * extent.logits),
          .scratch = carver.bytes(extent.workers * extent.scratch_bytes),
          .cosine = carver.floats(extent.positions * shape.head_size / 2),
          .sine = carver.floats(extent.positions * shape.head_size / 2)};
}

}  // namespace

std::int64_t Activations::bytes(const Architecture& architecture, const Extent& extent) {
  Carver carver(nullptr);
  carve(carver, architecture, extent);
  return carver.used();
}

Activations::Activations(const Architecture& architecture, const Extent& extent) {
  const std::int64_t size = bytes(architecture, extent);
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    throw DeviceError("no room for " + std::to_string(size) +
                      " bytes of activations; ask for fewer rows a step");
  memory_ = {static_cast<std::byte*>(memory), Unmap{size}};
  Carver carver(memory_.get());
  buffers_ = carve(carver, architecture, extent);
}

void Activations::Unmap::operator()(std::byte* memory) const { ::munmap(memory, bytes); }

}  // namespace redline::model
