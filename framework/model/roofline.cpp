// SPDX-License-Identifier: Apache-2.0
#include "model/roofline.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>

#include "model/weights.hpp"
#include "redline/kernels/peak.hpp"

namespace redline::model {
namespace {

constexpr std::int64_t kMemoryBytes = 256 << 20, kChunkBytes = 2 << 20, kLargePage = 2 << 20;
constexpr double kLeastNs = 1e6;  // a loop runs so long that waking a thread is nothing

template <class F>
double nanoseconds(F&& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

double read_rate(device::WorkerPool& pool, std::span<const std::byte> memory,
                 kernels::ReadAhead ahead) {
  const double ns = nanoseconds([&] {
    pool.run(std::ssize(memory) / kChunkBytes, [&](std::int64_t chunk, int) {
      kernels::read_once(memory.subspan(chunk * kChunkBytes, kChunkBytes), ahead);
    });
  });
  return static_cast<double>(memory.size()) / ns * 1e9;
}

// Of all threads at once, in units a second.
double loop_rate(device::WorkerPool& pool, std::int64_t (*loop)(std::int64_t rounds)) {
  for (std::int64_t rounds = 1024;; rounds *= 2) {
    std::int64_t done = 0;
    const double ns = nanoseconds([&] {
      pool.run(pool.threads(), [&](std::int64_t task, int) {
        const std::int64_t mine = loop(rounds);
        if (task == 0) done = mine * pool.threads();
      });
    });
    if (ns >= kLeastNs) return static_cast<double>(done) / ns * 1e9;
  }
}

}  // namespace

void LimitsProbe::Free::operator()(std::byte* memory) const { std::free(memory); }

LimitsProbe::LimitsProbe(device::Device& device)
    : device_(device),
      memory_(static_cast<std::byte*>(std::aligned_alloc(kLargePage, kMemoryBytes))) {
  if (!memory_) throw std::bad_alloc();
  ::madvise(memory_.get(), kMemoryBytes, MADV_HUGEPAGE);  // advice: read as fast as it may be
  std::memset(memory_.get(), 1, kMemoryBytes);
}

void LimitsProbe::measure() {
  const kernels::PeakLoops& loops = kernels::peak_loops(device_.ops().isa);
  device::WorkerPool& pool = device_.pool();
  last_read_bytes_ = 0;
  for (const auto ahead : kernels::kReadAheads)
    last_read_bytes_ =
        std::max(last_read_bytes_, read_rate(pool, {memory_.get(), kMemoryBytes}, ahead));
  best_.read_bytes = std::max(best_.read_bytes, last_read_bytes_);
  best_.multiply_adds = std::max(best_.multiply_adds, loop_rate(pool, loops.multiply_adds));
  best_.fmas = std::max(best_.fmas, loop_rate(pool, loops.fmas));
}

void LimitsProbe::saw_read(double bytes, double ns) {
  best_.read_bytes = std::max(best_.read_bytes, bytes / ns * 1e9);
}

Limits LimitsProbe::now() const {
  Limits limits = best_;
  limits.read_bytes = last_read_bytes_;
  return limits;
}

ForwardWork work_of(const files::Gguf& file, const LoadOptions& options) {
  const Architecture whole = architecture_of(file);
  const Shape& shape = whole.shape;
  const bool is_tied = file.find_tensor("output.weight") == nullptr;
  ForwardWork work;
  for (const files::Tensor& tensor : file.tensors()) {
    if (tensor.name == "token_embd.weight" && !is_tied) continue;
    if (tensor.shape.size() == 1) {
      work.weight_bytes += static_cast<double>(tensor.bytes.size());
      continue;
    }
    const bool is_head = tensor.name == (is_tied ? "token_embd.weight" : "output.weight");
    const std::int64_t rows = is_head ? head_outputs(whole, options) : tensor.rows();
    const auto type = packed_type(tensor, options.requantize);
    work.weight_bytes += static_cast<double>(rows * kernels::file_row_bytes(type, tensor.cols()));
    work.multiply_adds_a_row += static_cast<double>(rows * tensor.cols());
  }
  kv::KvShape kv = shape.kv();
  kv.type = options.kv_type;
  work.kv_bytes_a_position = static_cast<double>(kv.page_bytes()) / kv::kPageTokens;
  work.fmas_a_row_and_position = 2.0 * shape.layers * shape.heads * shape.head_size;
  return work;
}

double read_bytes(const ForwardWork& work, int rows, int context) {
  return work.weight_bytes + work.kv_bytes_a_position * (context + rows);
}

double roofline_ns(const ForwardWork& work, const Limits& limits, int rows, int context) {
  const double seen = rows * (context + (rows + 1) / 2.0);  // positions, by all rows of a chain
  const double reading = read_bytes(work, rows, context) / limits.read_bytes;
  const double multiplying = work.multiply_adds_a_row * rows / limits.multiply_adds +
                             work.fmas_a_row_and_position * seen / limits.fmas;
  return std::max(reading, multiplying) * 1e9;
}

}  // namespace redline::model
