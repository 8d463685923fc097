// SPDX-License-Identifier: Apache-2.0
// A head of some tokens alone: their rows of the whole head, gathered into tiles in memory.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "model/shard.hpp"
#include "redline/types.hpp"

namespace redline::model {

class ShortHead {
 public:
  ShortHead() = default;  // of no token
  // tokens: of all ranks; whole: [V, D], of the embedding when tied.
  ShortHead(const kernels::PackedMatrix& whole, std::span<const Token> tokens, const Shard& shard);
  kernels::PackedMatrix matrix() const;  // rows of this rank's part

 private:
  kernels::PackedMatrix shape_;
  std::vector<std::byte> tiles_;
};

// InputError: tokens that do not rise, one beyond the vocabulary, or fewer tiles than ranks.
void check_head_tokens(std::span<const Token> tokens, std::int32_t vocab, int degree);

}  // namespace redline::model
