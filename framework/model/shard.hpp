// SPDX-License-Identifier: Apache-2.0
// What one rank of a tensor-parallel group holds of a model: whole heads with the KV heads they
// read, whole units of the feed-forward width, whole tiles of the vocabulary. A shard is a view of
// the packed weights that all ranks share; nothing is packed for a degree.
#pragma once
#include <cstdint>

#include "model/architecture.hpp"

namespace redline::model {

struct Part {
  std::int64_t begin, end;
  std::int64_t size() const { return end - begin; }
};

struct Shard {
  int rank = 0, degree = 1;
  Part q{}, kv{};  // outputs of the attention's products; where the degree exceeds the KV heads,
                   // ranks that read the same one all hold it
  Part feed_forward{};  // parts differ by at most a unit
  Part vocab{};         // rows of the head
};
// InputError: a degree that does not fit, with the counts and the degrees that do.
Shard shard_of(const Architecture& whole, int rank, int degree);
// Whole tiles of so many outputs, as even as they come: of the vocabulary, or of a shorter head.
Part tile_part(std::int64_t outputs, int rank, int degree);

// The model as this rank computes it: as many heads and as wide as its shard.
Architecture part_of(const Architecture& whole, const Shard& shard);

}  // namespace redline::model
