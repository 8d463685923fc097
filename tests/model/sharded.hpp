// SPDX-License-Identifier: Apache-2.0
// A tiny model on ranks that are threads: each runs its shard over the same batches.
#pragma once
#include <cmath>

#include "parallel/collectives.hpp"
#include "parallel/threads.hpp"
#include "replay.hpp"
#include "tiny.hpp"

namespace redline::model {

inline constexpr std::int32_t kShardPages = 32;

inline LoadOptions tiny_options(const TinyFile& file) {
  return {.cache_folder = file.cache(),
          .max_rows = 96,
          .max_positions = 256,
          .taps = {},
          .progress = {}};
}

// On each rank: body(decoder, pool). What a rank throws is thrown here.
template <class Body>
void on_ranks(const TinyFile& file, int degree, Body body) {
  const auto thrown = tests::run_ranks(degree, [&](parallel::Communicator& ranks) {
    device::Device device(1, kernels::best());
    Decoder decoder(file.open(), device, ranks, tiny_options(file));
    kv::PagePool pool(decoder.kv_shape(), kShardPages);
    body(decoder, pool, ranks.rank());
  });
  for (const std::string& text : thrown)
    if (!text.empty()) throw Error(text);
}

// Rank 0's logits and each rank's K and V, rank by rank.
inline std::vector<Trail> sharded(const TinyFile& file, int degree, std::span<const Token> ids,
                                  std::size_t chunk) {
  std::vector<Trail> trails(degree);
  on_ranks(file, degree, [&](Decoder& decoder, kv::PagePool& pool, int rank) {
    trails[rank] = in_chunks(decoder, pool, ids, chunk);
  });
  return trails;
}

// Chains, trees whose paths are compacted, and chains over what was compacted.
inline Trail wander(Forward& forward, kv::PagePool& pool) {
  kv::Cache cache(pool);
  Trail trail;
  for (std::uint32_t turn = 1; turn < 5; ++turn) {
    append_chain(forward, cache, some_ids(7, forward.vocab(), turn), trail);
    append_tree(forward, cache, some_ids(4, forward.vocab(), 10 + turn), 2, trail);
  }
  keep_stored(cache, trail);
  return trail;
}

inline double relative_error(const Trail& found, const Trail& expected) {
  double wrong = 0, size = 0;
  for (std::size_t t = 0; t < expected.logits.size(); ++t)
    for (std::size_t i = 0; i < expected.logits[t].size(); ++i) {
      const double difference = double{found.logits[t][i]} - expected.logits[t][i];
      wrong += difference * difference;
      size += double{expected.logits[t][i]} * expected.logits[t][i];
    }
  return std::sqrt(wrong / size);
}

}  // namespace redline::model
