// SPDX-License-Identifier: Apache-2.0
// What every communicator must do, whatever carries it: run by all ranks of a group; a fault
// throws.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "parallel/communicator.hpp"
#include "redline/error.hpp"

namespace redline::tests {

inline void require(bool holds, const std::string& what) {
  if (!holds) throw Error("not so: " + what);
}

// Values whose sum depends on the order.
inline float value_of(int rank, std::int64_t i) {
  const auto bits = static_cast<std::uint32_t>(i * 2654435761u + rank * 40503u + 1);
  return (static_cast<float>(bits % 2001) - 1000.0f) * (rank % 2 ? 1e-4f : 1e3f) + 1.0f / (i + 3);
}

inline void sums_are_in_rank_order(parallel::Communicator& ranks, std::int64_t count) {
  std::vector<float> values(count), expected(count);
  for (std::int64_t i = 0; i < count; ++i) {
    values[i] = value_of(ranks.rank(), i);
    expected[i] = value_of(0, i);
    for (int rank = 1; rank < ranks.size(); ++rank) expected[i] += value_of(rank, i);
  }
  ranks.all_reduce(values);
  require(std::memcmp(values.data(), expected.data(), count * sizeof(float)) == 0,
          "a sum of " + std::to_string(count) + " values has the bits of the sum in rank order");
}

inline void parts_are_gathered(parallel::Communicator& ranks, int root) {
  std::vector<std::int64_t> counts;
  std::vector<float> expected;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    counts.push_back(rank * 37 % 5 * 100);  // the first brings none
    for (std::int64_t i = 0; i < counts.back(); ++i) expected.push_back(value_of(rank, i));
  }
  std::vector<float> mine;
  for (std::int64_t i = 0; i < counts[ranks.rank()]; ++i) mine.push_back(value_of(ranks.rank(), i));
  std::vector<float> all(ranks.rank() == root ? expected.size() : 0);
  ranks.gather(mine, counts, all, root);
  require(ranks.rank() != root || all == expected, "the root holds the parts in rank order");
}

inline void messages_arrive(parallel::Communicator& ranks, int root) {
  for (const std::size_t size : {5u, 0u, 100000u}) {
    std::vector<std::byte> expected(size), message;
    for (std::size_t i = 0; i < size; ++i) expected[i] = static_cast<std::byte>(i * 7 + size);
    if (ranks.rank() == root) message = expected;
    ranks.broadcast(message, root, parallel::Patience::LIMIT);
    require(message == expected, "a message arrives whole");
  }
}

inline void collectives_hold(parallel::Communicator& ranks) {
  for (const std::int64_t count : {1, 15, 16, 17, 1000, 70000})
    sums_are_in_rank_order(ranks, count);
  for (int root = 0; root < ranks.size(); ++root) {
    parts_are_gathered(ranks, root);
    messages_arrive(ranks, root);
  }
  ranks.barrier(parallel::Patience::LOAD);
  for (int turn = 0; turn < 50; ++turn) {  // no call may run into the next
    sums_are_in_rank_order(ranks, 33);
    parts_are_gathered(ranks, turn % ranks.size());
  }
  for (int size = 1; size <= ranks.size(); ++size) {
    const auto few = ranks.first(size);
    require((few == nullptr) == (ranks.rank() >= size), "only the first ranks are in their group");
    if (!few) continue;
    require(few->size() == size && few->rank() == ranks.rank(), "ranks keep their numbers");
    sums_are_in_rank_order(*few, 100);
    parts_are_gathered(*few, size - 1);
  }
  messages_arrive(ranks, 0);  // to those, too, that were in no small group
}

}  // namespace redline::tests
