// SPDX-License-Identifier: Apache-2.0
// The weights of one rank: views of the matrices in the shared mapping, vectors in memory of their
// own.
#pragma once
#include <vector>

#include "model/shard.hpp"
#include "model/weight_cache.hpp"

namespace redline::model {

struct LayerWeights {
  std::vector<float> attention_norm, feed_forward_norm;  // [D]
  std::vector<float> q_bias, k_bias, v_bias, o_bias;     // empty: none
  kernels::PackedMatrix q, k, v, o, gate, up, down;
};

class Weights {
 public:
  Weights(const files::Gguf& file, const Architecture& whole, const Shard& shard,
          const LoadOptions& options, device::WorkerPool& pool);
  // Of one rank. The embedding, which all ranks read from one mapping, counts in equal parts.
  static std::int64_t bytes(const files::Gguf& file, const Architecture& whole, const Shard& shard);

  const kernels::PackedMatrix& embedding() const { return embedding_; }  // [V, D], whole
  const kernels::PackedMatrix& head() const { return head_; }  // of the embedding when tied
  const std::vector<float>& final_norm() const { return final_norm_; }  // [D]
  const std::vector<LayerWeights>& layers() const { return layers_; }   // [L]

 private:
  WeightCache cache_;
  kernels::PackedMatrix embedding_, head_;
  std::vector<float> final_norm_;
  std::vector<LayerWeights> layers_;
};

// A 1-D tensor as floats; empty when the file has none.
std::vector<float> vector_of(const files::Gguf& file, const std::string& name);

}  // namespace redline::model
