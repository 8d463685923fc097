// SPDX-License-Identifier: Apache-2.0
// The weights of one rank: views of the matrices in the shared mapping, vectors in memory of their
// own.
#pragma once
#include <vector>

#include "model/short_head.hpp"
#include "model/weight_cache.hpp"

namespace redline::model {

struct LayerWeights {
  std::vector<float> attention_norm, feed_forward_norm;  // [D]
  std::vector<float> q_bias, k_bias, v_bias, o_bias;     // empty: none
  kernels::PackedMatrix q, k, v, o, gate, up, down;
};

struct Head {
  kernels::PackedMatrix rows;     // of this rank [its part of the outputs, D]
  std::int64_t outputs = 0;       // logits that a row gets, on all ranks
  std::span<const Token> tokens;  // whose they are, rising; empty: output t is token t
};

class Weights {
 public:
  Weights(const files::Gguf& file, const Architecture& whole, const Shard& shard,
          const LoadOptions& options, device::WorkerPool& pool);
  // Of one rank. The embedding, which all ranks read from one mapping, counts in equal parts.
  static std::int64_t bytes(const files::Gguf& file, const Architecture& whole, const Shard& shard,
                            const LoadOptions& options);
  Weights(const Weights&) = delete;  // heads are views of it

  const kernels::PackedMatrix& embedding() const { return embedding_; }  // [V, D], whole
  const Head& head() const { return head_; }  // of the embedding when tied
  const std::vector<float>& final_norm() const { return final_norm_; }  // [D]
  const std::vector<LayerWeights>& layers() const { return layers_; }   // [L]

 private:
  WeightCache cache_;
  kernels::PackedMatrix embedding_;
  std::vector<Token> head_tokens_;
  ShortHead short_head_;
  Head head_;
  std::vector<float> final_norm_;
  std::vector<LayerWeights> layers_;
};

// What a matrix of the file is packed as.
kernels::WeightType packed_type(const files::Tensor& tensor, Requantize requantize);

// Logits of a row of all ranks: V, or of the head tokens alone.
std::int64_t head_outputs(const Architecture& whole, const LoadOptions& options);

// A 1-D tensor as floats; empty when the file has none.
std::vector<float> vector_of(const files::Gguf& file, const std::string& name);

}  // namespace redline::model
