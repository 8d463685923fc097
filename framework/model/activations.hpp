// SPDX-License-Identifier: Apache-2.0
// Every buffer of a forward, cut from one piece of memory at construction. The pages of rows that
// never come are never touched.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/architecture.hpp"

namespace redline::model {

struct Extent {            // the widest forward
  std::int64_t rows;       // T
  std::int64_t wanted;     // W: rows that want logits
  std::int64_t outputs;    // O of the head on this rank
  std::int64_t logits;     // V of the rows that this rank makes whole: none but on rank 0
  bool is_shard;           // of several ranks
  std::int64_t positions;  // of the rope table
  std::int64_t workers;
  std::int64_t scratch_bytes;  // of a worker, in attention or feed forward
};

struct Buffers {
  float* x;                        // [T, D] residual stream
  float* delta;                    // [T, D] what the last block adds to it
  float* normed;                   // [T, D]
  std::byte* quantized;            // activation_bytes(T, D or H E)
  float* qkv;                      // [T, (H + 2 G) E]
  float* mixed;                    // [T, H E] out of attention
  float* activated;                // [T, F] where `down` is of floats
  std::byte* activated_quantized;  // activation_bytes(T, F)
  float* wanted;                   // [W, D] normed rows that want logits
  float* part;                     // [W, O] of logits; none where the shard is all
  float* parts;                    // [ranks][W, O of the rank] on rank 0, one behind the other
  float* logits;                   // [W, V]
  std::byte* scratch;              // [workers, scratch_bytes]
  float* cosine;                   // [positions, E/2]
  float* sine;                     // [positions, E/2]
};

class Activations {
 public:
  Activations(const Architecture& architecture, const Extent& extent);
  static std::int64_t bytes(const Architecture& architecture, const Extent& extent);
  const Buffers& operator*() const { return buffers_; }
  const Buffers* operator->() const { return &buffers_; }

 private:
  struct Unmap {
    std::int64_t bytes;
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Unmap> memory_;
  Buffers buffers_;
};

}  // namespace redline::model
